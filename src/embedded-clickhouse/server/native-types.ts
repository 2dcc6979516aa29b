/** Skips the values of a column in the Native format, by its type. */
import { exception } from "./exception.js";
import type { NativeReader } from "./native-reader.js";

/** Bytes per value. */
const FIXED: ReadonlyMap<string, number> = new Map(
  Object.entries({
    1: "Int8 UInt8 Bool Enum8 Nothing",
    2: "Int16 UInt16 Date Enum16 BFloat16",
    4: "Int32 UInt32 Float32 Date32 DateTime Time IPv4 Decimal32",
    8: "Int64 UInt64 Float64 DateTime64 Time64 Decimal64",
    16: "Int128 UInt128 UUID IPv6 Decimal128",
    32: "Int256 UInt256 Decimal256",
  }).flatMap(([bytes, names]) => names.split(" ").map((name) => [name, Number(bytes)] as const)),
);
const MAX_DIGITS: readonly (readonly [digits: number, bytes: number])[] = [
  [9, 4],
  [18, 8],
  [38, 16],
  [76, 32],
];
/** Width of the indexes of a LowCardinality column, by the lowest byte of its state. */
const INDEX_BYTES = [1, 2, 4, 8];

/** @param column used in the message about an unsupported type */
export function skipValues(reader: NativeReader, type: string, rows: number, column: string): void {
  prefix(reader, type);
  values(reader, type, rows, column);
}

/** Skips what precedes all values of a column: a version for each LowCardinality inside. */
function prefix(reader: NativeReader, type: string): void {
  const { name, inner } = parseType(type);
  if (name === "LowCardinality") reader.skip(8);
  else for (const innerType of innerTypes(name, inner)) prefix(reader, innerType);
}

function values(reader: NativeReader, type: string, rows: number, column: string): void {
  const { name, inner } = parseType(type);
  const first = inner[0] ?? "";
  const bytes = widthOf(name, first);
  if (bytes !== undefined) reader.skip(bytes * rows);
  else if (name === "String") for (let row = 0; row < rows; row += 1) reader.skip(reader.varint());
  else if (name === "Nullable") {
    reader.skip(rows);
    values(reader, first, rows, column);
  } else if (name === "Array") arrays(reader, first, rows, column);
  else if (name === "Map" || name === "Nested") arrays(reader, `Tuple(${inner.join(", ")})`, rows, column);
  else if (name === "Tuple" && inner.length === 0) reader.skip(rows);
  else if (name === "Tuple")
    for (const innerType of innerTypes(name, inner)) values(reader, innerType, rows, column);
  else if (name === "SimpleAggregateFunction") values(reader, inner[1] ?? "", rows, column);
  else if (name === "LowCardinality") lowCardinality(reader, first, rows, column);
  else
    throw exception(
      "NOT_IMPLEMENTED",
      `Column ${column} of type ${type} cannot be sent in this client's Native format: CAST it, to String for one`,
    );
}

/** Returns the bytes per value of a type with fixed width. */
function widthOf(name: string, parameter: string): number | undefined {
  if (name === "FixedString") return Number(parameter);
  if (name === "Decimal") return MAX_DIGITS.find(([digits]) => Number(parameter) <= digits)?.[1] ?? 32;
  return FIXED.get(name) ?? (name.startsWith("Interval") ? 8 : undefined);
}

function arrays(reader: NativeReader, item: string, rows: number, column: string): void {
  let items = 0;
  for (let row = 0; row < rows; row += 1) items = reader.uint64();
  values(reader, item, items, column);
}

function lowCardinality(reader: NativeReader, type: string, rows: number, column: string): void {
  if (rows === 0) return;
  const width = INDEX_BYTES[reader.byte()] ?? 8;
  reader.skip(7);
  const { name, inner } = parseType(type);
  values(reader, name === "Nullable" ? (inner[0] ?? "") : type, reader.uint64(), column);
  reader.skip(reader.uint64() * width);
}

function innerTypes(name: string, inner: readonly string[]): readonly string[] {
  if (name === "Tuple" || name === "Nested") return inner.map(withoutName);
  if (name === "Map" || name === "Array" || name === "Nullable") return inner;
  return name === "SimpleAggregateFunction" ? inner.slice(1) : [];
}

/** Removes the name of a named tuple's element, such as `a UInt8` and `` `a b` UInt8 ``. */
function withoutName(element: string): string {
  return element.replace(/^(?:`(?:[^`\\]|\\.|``)*`|[A-Za-z_]\w*) (?=[A-Z])/, "");
}

/**
 * Splits a type such as `Map(String, UInt8)` into its name and its arguments, at commas outside of inner brackets and
 * quotes.
 */
function parseType(type: string): { readonly name: string; readonly inner: readonly string[] } {
  const open = type.indexOf("(");
  if (open < 0) return { name: type, inner: [] };
  const inner: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = from; at < type.length; at += 1) {
    const character = type.charAt(at);
    if (character === "'" || character === "`") at = closing(type, at);
    else if (character === "(") depth += 1;
    else if ((character === "," || character === ")") && depth === 0) {
      inner.push(type.slice(from, at).trim());
      from = at + 1;
    } else if (character === ")") depth -= 1;
  }
  return { name: type.slice(0, open), inner: inner.filter((each) => each !== "") };
}

function closing(type: string, opening: number): number {
  for (let at = opening + 1; at < type.length; at += 1) {
    if (type.charAt(at) === "\\") at += 1;
    else if (type.charAt(at) === type.charAt(opening)) return at;
  }
  return type.length;
}

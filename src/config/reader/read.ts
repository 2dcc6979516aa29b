/**
 * Reads a written configuration by its schema, in one walk that returns the values, with defaults, and every problem.
 *
 * A part that cannot be read is reported and left out, and the walk continues, so that a person sees all problems of a
 * file at once. Rules between keys therefore see partial values. Each function returns the value that it read, or
 * undefined.
 */
import { KindGuard, type TArray, type TObject, type TRecord, type TSchema } from "@sinclair/typebox";
import { nearest } from "../../common/nearest.js";
import { expectation, wordsOf } from "./expectation.js";
import { isRecord } from "./parts.js";
import { type Path, pathText } from "./problem.js";
import type { ReadingContext } from "./reading-context.js";
import { readScalar } from "./scalar.js";
import { choice, formOfKind, notesOf, openValue } from "./setting.js";
import { inWords, overlap, type Validity, validityOf } from "./validity.js";
import {
  KIND_IN_WORDS,
  type Written,
  type WrittenEntry,
  type WrittenList,
  type WrittenMapping,
} from "./written.js";

function unknownKey(name: string, path: Path, schema: TObject, context: ReadingContext): string {
  const known = Object.keys(schema.properties);
  const owner = nearestMappingWith(name, path, schema, context);
  if (owner !== undefined) return `unknown key; \`${name}\` is a key of \`${pathText(owner)}\``;
  const guess = nearest(name, known);
  return guess === undefined
    ? `unknown key; known here: ${known.join(", ")}`
    : `unknown key; did you mean \`${guess}\`?`;
}

/** Finds the nearest mapping that has a key of this name, among those directly in this one and those around it. */
function nearestMappingWith(
  name: string,
  path: Path,
  { properties }: TObject,
  { around }: ReadingContext,
): Path | undefined {
  for (const [key, property] of Object.entries(properties))
    if (KindGuard.IsObject(property) && Object.hasOwn(property.properties, name)) return [...path, key];
  return around.findLast(({ keys }) => keys.includes(name))?.path;
}

function isEmpty(written: Written): boolean {
  if (written.kind === "mapping") return written.entries.size === 0;
  return written.kind === "nothing" || (written.kind === "list" && written.items.length === 0);
}

/** A missing section is read as an empty one, so that its keys get their defaults and its rules are checked. */
function readDefault(schema: TSchema, line: number, path: Path, context: ReadingContext): unknown {
  const nothing: WrittenMapping = { kind: "mapping", line, entries: new Map() };
  return KindGuard.IsObject(schema)
    ? readObject(schema, nothing, path, context)
    : structuredClone(schema.default);
}

function readKey(
  name: string,
  schema: TSchema,
  written: WrittenMapping,
  path: Path,
  context: ReadingContext,
): unknown {
  const entry = written.entries.get(name);
  if (entry !== undefined) context.setLine(path, entry.line);
  const { unsupported, description } = notesOf(schema);
  if (unsupported) {
    if (entry !== undefined && !isEmpty(entry.value))
      context.report(path, `is not supported: ${description}`);
    return undefined;
  }
  if (entry !== undefined && entry.value.kind !== "nothing")
    return readValue(schema, entry.value, path, context);
  if ("default" in schema) return readDefault(schema, written.line, path, context);
  if (!KindGuard.IsOptional(schema))
    context.report(path, `is required: ${expectation(schema)}`, expectation(schema));
  return undefined;
}

function reportUnknownKeys(
  schema: TObject,
  written: WrittenMapping,
  path: Path,
  context: ReadingContext,
): void {
  const known = Object.keys(schema.properties);
  for (const [name, entry] of written.entries) {
    if (known.includes(name)) continue;
    context.setLine([...path, name], entry.line);
    context.report([...path, name], unknownKey(name, path, schema, context));
  }
}

function readObject(schema: TObject, written: WrittenMapping, path: Path, context: ReadingContext): unknown {
  if (schema.additionalProperties === false) reportUnknownKeys(schema, written, path, context);
  const values: [string, unknown][] = [];
  const keys = Object.keys(schema.properties);
  const inside = { ...context, around: [...context.around, { path, keys }] };
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = readKey(name, property, written, [...path, name], inside);
    if (value !== undefined) values.push([name, value]);
  }
  values.push(...readOpenKeys(schema, written, path, inside));
  const value: Record<string, unknown> = Object.fromEntries(values);
  for (const { check } of notesOf(schema).rules ?? [])
    context.checkRule(path, (report) => check(value, report));
  return value;
}

/** Reads keys that the user chooses, in a mapping that also has fixed keys. */
function readOpenKeys(
  schema: TObject,
  written: WrittenMapping,
  path: Path,
  context: ReadingContext,
): [string, unknown][] {
  const item = openValue(schema);
  if (item === undefined) return [];
  const entries = [...written.entries].filter(([name]) => !Object.hasOwn(schema.properties, name));
  return readEntries({ ...notesOf(schema).keys, item }, entries, path, context);
}

/**
 * Reads a mapping with several forms. If the key that selects the form is wrong, the keys that all forms share are
 * still read.
 */
function readVariant(schema: TSchema, written: WrittenMapping, path: Path, context: ReadingContext): unknown {
  const { discriminator } = notesOf(schema);
  if (discriminator === undefined) throw new Error("a union of mappings needs a discriminator");
  const { key, shared } = discriminator;
  const forms = new Map<unknown, TObject>();
  for (const form of (KindGuard.IsUnion(schema) ? schema.anyOf : [schema]).filter(KindGuard.IsObject)) {
    for (const word of wordsOf(form.properties[key] ?? form) ?? []) forms.set(word, form);
  }
  const selector = choice([...forms.keys()].map(String), { description: "" });
  const word = readKey(key, selector, written, [...path, key], context);
  return readObject(forms.get(word) ?? shared, written, path, context);
}

/** Reads a mapping of keys that the user chooses, with values of one schema. */
function readRecord(schema: TRecord, written: WrittenMapping, path: Path, context: ReadingContext): unknown {
  const [[pattern, item] = []] = Object.entries(schema.patternProperties);
  if (pattern === undefined || item === undefined)
    throw new Error("a mapping of free keys needs a pattern for them");
  const most: number = schema.maxProperties ?? Number.POSITIVE_INFINITY;
  if (written.entries.size > most)
    context.report(path, `has ${written.entries.size} keys; at most ${most} are allowed`);
  const { expected } = notesOf(schema).keys ?? {};
  return Object.fromEntries(readEntries({ pattern, expected, item }, [...written.entries], path, context));
}

function readEntries(
  { pattern = "", expected, item }: { pattern?: string; expected?: string | undefined; item: TSchema },
  entries: readonly (readonly [string, WrittenEntry])[],
  path: Path,
  context: ReadingContext,
): [string, unknown][] {
  const values: [string, unknown][] = [];
  const allowed = new RegExp(pattern, "u");
  for (const [name, entry] of entries) {
    const here = [...path, name];
    context.setLine(here, entry.line);
    if (!allowed.test(name)) context.report(here, `the key must be ${expected}`);
    if (entry.value.kind === "nothing") context.report(here, `is empty; it must be ${expectation(item)}`);
    else values.push([name, readValue(item, entry.value, here, context)]);
  }
  return values.filter(([, value]) => value !== undefined);
}

/** Reports entries with the value of an earlier one that counts on one of the same days. */
function reportRepeated(
  values: readonly unknown[],
  schema: TArray,
  path: Path,
  context: ReadingContext,
): void {
  const { uniqueBy, isUniqueForever, isOneAtATime } = notesOf(schema);
  if (uniqueBy === undefined && !isOneAtATime) return;
  const earlier = new Map<unknown, { readonly index: number; readonly validity: Validity }[]>();
  for (const [index, value] of values.entries()) {
    const key = uniqueBy === undefined ? "" : isRecord(value) ? value[uniqueBy] : undefined;
    if (key === undefined) continue;
    const validity = isUniqueForever ? {} : validityOf(schema.items, value);
    const same = earlier.get(key)?.find((each) => overlap(each.validity, validity));
    if (same !== undefined)
      context.report(
        [...path, index, ...(uniqueBy === undefined ? [] : [uniqueBy])],
        repeatedText(same, schema),
      );
    earlier.set(key, [...(earlier.get(key) ?? []), { index, validity }]);
  }
}

function repeatedText(
  { index, validity }: { readonly index: number; readonly validity: Validity },
  { items, ...schema }: TArray,
): string {
  const { uniqueBy, isUniqueForever } = notesOf(schema);
  if (uniqueBy === undefined) return `counts on a day of entry [${index}]${inWords(validity)}: only one may`;
  const hasDays =
    !isUniqueForever && KindGuard.IsObject(items) && Object.hasOwn(items.properties, "valid_from");
  return hasDays
    ? `is the same as that of entry [${index}]${inWords(validity)}, and both count on some day; it must be unique on each day`
    : `is the same as that of entry [${index}]; it must be unique`;
}

function readList(schema: TArray, written: WrittenList, path: Path, context: ReadingContext): unknown {
  const count = written.items.length;
  if (count < (schema.minItems ?? 0) || count > (schema.maxItems ?? Number.POSITIVE_INFINITY)) {
    context.report(path, `must be ${expectation(schema)}, not ${count}`, expectation(schema));
  }
  const values = written.items.map((item, index) => {
    const here = [...path, index];
    context.setLine(here, item.line);
    if (item.kind === "nothing") context.report(here, `is empty; it must be ${expectation(schema.items)}`);
    return item.kind === "nothing" ? undefined : readValue(schema.items, item, here, context);
  });
  reportRepeated(values, schema, path, context);
  return values;
}

/** Reads a value with the reader for the kind of its schema. */
export function readValue(schema: TSchema, written: Written, path: Path, context: ReadingContext): unknown {
  const form =
    notesOf(schema).byKind && written.kind !== "nothing" ? formOfKind(schema, written.kind) : undefined;
  if (form !== undefined) return readValue(form, written, path, context);
  if (written.kind === "mapping") {
    if (notesOf(schema).discriminator !== undefined) return readVariant(schema, written, path, context);
    if (KindGuard.IsObject(schema)) return readObject(schema, written, path, context);
    if (KindGuard.IsRecord(schema)) return readRecord(schema, written, path, context);
  }
  if (written.kind === "list" && KindGuard.IsArray(schema)) return readList(schema, written, path, context);
  const structured = [KindGuard.IsObject, KindGuard.IsRecord, KindGuard.IsArray].some((is) => is(schema));
  const allowed = expectation(schema);
  if (written.kind !== "scalar" || structured || notesOf(schema).discriminator !== undefined) {
    const bracket = { list: "[", mapping: "{" }[written.kind as string];
    const hint =
      KindGuard.IsString(schema) && bracket !== undefined
        ? `: put a value that begins with \`${bracket}\` in quotes`
        : "";
    context.report(path, `must be ${allowed}, not ${KIND_IN_WORDS[written.kind]}${hint}`, allowed);
    return undefined;
  }
  const reading = readScalar(schema, written, context.env);
  if ("value" in reading) {
    const { secret } = notesOf(schema);
    if (secret)
      context.secrets.push(...(secret === true ? [String(reading.value)] : secret(String(reading.value))));
    return reading.value;
  }
  for (const message of reading.messages) context.report(path, message, allowed);
  return undefined;
}

/**
 * Series of usage in ClickHouse's RowBinary format, one row for each series. The engine expands them into facts, so no
 * text is written, sent and parsed for each fact. The columns are those of `usage`, in order.
 */
import { type ColumnKind, columnTypes } from "../../domain/fact-tables.js";
import type { UsageSeries } from "../ecosystem.js";
import type { MicroUnits } from "../micro-units.js";
import { written } from "./staged-row.js";

/** Columns that a series has a list of. */
const lists: Readonly<
  Partial<Record<ColumnKind, readonly [type: string, bytesOf: (series: UsageSeries) => Buffer]>>
> = {
  time: ["Array(UInt32)", ({ starts }) => startBytes(starts)],
  micro_units: ["Array(Int128)", ({ microUnits }) => amountBytes(microUnits)],
};

const columns = written("usage").map(([name, { kind }]) => ({ name, kind, list: lists[kind] }));

/** Returns the row of a series, in parts. */
export function seriesBytes(series: UsageSeries): Buffer[] {
  return columns.map(({ name, list, kind }) => {
    if (kind === "scale") return Buffer.of(series.scale);
    return list?.[1](series) ?? textBytes(String(series[name as "metric"]));
  });
}

/** Returns SQL that selects the facts from the rows. */
export function selectFromSeries(): string {
  const structure = columns.map(({ name, kind, list }) => `${name} ${list?.[0] ?? columnTypes[kind]}`);
  const arrays = columns.filter(({ list }) => list !== undefined);
  const names = (some: typeof columns) => some.map(({ name }) => name).join(", ");
  return `SELECT ${names(columns)} FROM input('${structure.join(", ")}') ARRAY JOIN ${names(arrays)}`;
}

function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([lengthBytes(bytes.length), bytes]);
}

function startBytes(starts: readonly number[]): Buffer {
  const [bytes, view, from] = listBytes(starts.length, 4);
  for (let at = 0; at < starts.length; at += 1) view.setUint32(from + 4 * at, starts[at] ?? 0, true);
  return bytes;
}

const TWO_TO_32 = 2 ** 32;

function amountBytes(amounts: readonly MicroUnits[]): Buffer {
  const [bytes, view, from] = listBytes(amounts.length, 16);
  for (let at = 0; at < amounts.length; at += 1) {
    const amount = amounts[at] ?? 0;
    const offset = from + 16 * at;
    if (typeof amount === "number") {
      view.setUint32(offset, amount % TWO_TO_32, true);
      view.setUint32(offset + 4, amount / TWO_TO_32, true);
    } else {
      view.setBigUint64(offset, BigInt.asUintN(64, amount), true);
      view.setBigUint64(offset + 8, amount >> 64n, true);
    }
  }
  return bytes;
}

/** Allocates a list of zeros, preceded by the number of items. */
function listBytes(items: number, itemBytes: number): [Buffer, DataView, from: number] {
  const length = lengthBytes(items);
  const bytes = Buffer.alloc(length.length + items * itemBytes);
  length.copy(bytes);
  return [bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), length.length];
}

/**
 * Encodes a length as LEB128: seven bits a byte, the lowest first, with the highest bit set in all but the last byte.
 */
function lengthBytes(length: number): Buffer {
  const bytes: number[] = [];
  let rest = length;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}

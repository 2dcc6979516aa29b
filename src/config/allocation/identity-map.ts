/**
 * The map of an identity source: a CSV file with the columns `value` and `identity`, and optionally `valid_from` and
 * `valid_to`, the UTC days on which a row counts. The separator and the lines before the header may vary as in a bill.
 * The file is read once, together with the configuration, so a wrong file prevents the start and never fails a run.
 */
import { readFileSync, statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { CsvError, parse } from "csv-parse/sync";
import { preambleOf, separatorOf } from "../../common/csv-dialect.js";
import { addDays, type DayRange, earliest, firstOfMonth, latest } from "../../common/days.js";
import { digestOf } from "../../common/digest.js";
import { UNALLOCATED } from "../../domain/allocation-rule.js";
import { FIRST_DAY, LAST_DAY } from "../../domain/stored-days.js";
import {
  changesOf,
  inWords,
  isStoredDay,
  isValidOn,
  overlap,
  STORED_DAY,
  type Validity,
} from "../reader/validity.js";

export interface IdentityMap {
  /** Hash of the entries: equal for files with equal entries. */
  readonly hash: string;
  /** The keys of the entries have days, see `keyOfDays`. */
  readonly hasDays?: boolean;
  /** Identities by value of the column, in the order of the file. */
  readonly entries: ReadonlyMap<string, string>;
}

/** By the path in the configuration. */
export type IdentityMaps = ReadonlyMap<string, IdentityMap>;

/** No value has a control character. */
export const PERIOD_SEPARATOR = "\t";

/** Returns the key of an entry that counts on some days, both included. */
export function keyOfDays(value: string, { valid_from = FIRST_DAY, valid_to = LAST_DAY }: Validity): string {
  return [value, valid_from, valid_to].join(PERIOD_SEPARATOR);
}

function partsOfKey(key: string): { readonly value: string; readonly validity: Validity } {
  const [value = "", valid_from, valid_to] = key.split(PERIOD_SEPARATOR);
  return { value, validity: { valid_from, valid_to } };
}

/** Returns the map as it is on a day, without days. */
export function mapOn(map: IdentityMap, day: string): IdentityMap {
  if (!map.hasDays) return map;
  const entries = new Map(
    [...map.entries].flatMap(([key, identity]) => {
      const { value, validity } = partsOfKey(key);
      return isValidOn(validity, day) ? [[value, identity]] : [];
    }),
  );
  return { hash: hashOf(entries), entries };
}

/** Returns all maps as they are on a day. */
export function mapsOn(maps: IdentityMaps, day: string): IdentityMaps {
  return new Map([...maps].map(([path, map]) => [path, mapOn(map, day)]));
}

/** Returns the hash of each map with its path. */
export function mapHashes(maps: IdentityMaps): readonly (readonly [path: string, hash: string])[] {
  return [...maps].map(([path, { hash }]) => [path, hash]);
}

/** Returns the days on which a map changes, unordered. */
export function daysOfChangeOfMap({ hasDays, entries }: IdentityMap): string[] {
  return hasDays ? [...entries.keys()].flatMap((key) => changesOf(partsOfKey(key).validity)) : [];
}

/**
 * Returns a digest of the entries that count in a window, or null without any. Weights over a month also depend on the
 * days of the month before the window.
 */
export function digestInWindow(map: IdentityMap | undefined, { start, end }: DayRange): string | null {
  if (map === undefined || map.entries.size === 0) return null;
  if (!map.hasDays) return map.hash;
  const [from, to] = [firstOfMonth(start), addDays(end, -1)];
  const counting = [...map.entries].flatMap(([key, identity]): [string, string][] => {
    const { value, validity } = partsOfKey(key);
    const first = latest(validity.valid_from ?? from, from);
    const last = earliest(validity.valid_to ?? to, to);
    return first > last ? [] : [[keyOfDays(value, { valid_from: first, valid_to: last }), identity]];
  });
  return counting.length === 0 ? null : hashOf(new Map(counting));
}

const MOST_BYTES = 32 * 2 ** 20;
const MOST_ENTRIES = 200_000;
const COLUMNS = ["value", "identity"];
const DAYS = ["valid_from", "valid_to"] as const;
const NO_HEADER = `must start with the header ${COLUMNS.join(",")}, and may also have ${DAYS.join(" and ")}`;
const UNFIT = /[\p{Cc}\p{Surrogate}]/u;
const LONGEST = 1000;

/** Reads a map, or returns the problem, a sentence that quotes at most values of the file. */
export function readIdentityMap(file: string): IdentityMap | { problem: string } {
  const text = textOf(file);
  if (typeof text !== "string") return text;
  const preamble = preambleOf(text);
  if (preamble === undefined) return { problem: NO_HEADER };
  const table = text.slice(preamble.length);
  const delimiter = preamble.separator ?? separatorOf(table.split("\n", 1)[0] ?? "");
  const linesBefore = text.slice(0, preamble.length).split("\n").length - 1;
  let rows: Row[];
  try {
    const options = { delimiter, skip_empty_lines: true, trim: true, relax_column_count: true } as const;
    // The library's types do not cover `info: true`.
    rows = parse(table, { ...options, info: true }) as unknown as Row[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { problem: `is not CSV: ${error.message}` };
  }
  const [header, ...entries] = rows;
  const daysGiven = DAYS.filter((name) => header?.record.slice(2).includes(name));
  if (!isDeepStrictEqual(header?.record, [...COLUMNS, ...daysGiven])) return { problem: NO_HEADER };
  if (entries.length > MOST_ENTRIES)
    return { problem: `has ${entries.length} entries; at most ${MOST_ENTRIES} are allowed` };
  const found = new Map<string, Entry[]>();
  for (const { record, info } of entries) {
    const line = linesBefore + info.lines;
    const [value = "", identity = "", ...days] = record;
    const validity = Object.fromEntries(
      daysGiven.flatMap((name, index) => (days[index] ? [[name, days[index]]] : [])),
    );
    const refusal =
      refuseEntry(record, daysGiven.length + COLUMNS.length) ??
      refuseDays(validity) ??
      refuseRepeated(value, validity, found.get(value) ?? []);
    if (refusal !== undefined) return { problem: `line ${line} ${refusal}` };
    found.set(value, [...(found.get(value) ?? []), { identity, line, validity }]);
  }
  const hasDays = daysGiven.length > 0;
  const map = new Map(
    [...found].flatMap(([value, rows]) =>
      rows.map(({ identity, validity }): [string, string] => [
        hasDays ? keyOfDays(value, validity) : value,
        identity,
      ]),
    ),
  );
  return { hash: hashOf(map), hasDays, entries: map };
}

interface Entry {
  readonly identity: string;
  readonly line: number;
  readonly validity: Validity;
}

interface Row {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

function textOf(file: string): string | { problem: string } {
  try {
    const { size } = statSync(file);
    if (size > MOST_BYTES) return { problem: `is larger than ${MOST_BYTES / 2 ** 20} MiB` };
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code.startsWith("ERR_ENCODING")) return { problem: "is not UTF-8 text" };
    return { problem: code === "ENOENT" ? "does not exist" : `cannot be read (${code})` };
  }
}

function refuseEntry(record: readonly string[], columns: number): string | undefined {
  const [value = "", identity = ""] = record;
  if (record.length !== columns) return `has ${record.length} fields, not ${columns}`;
  if (value === "") return "has no value";
  if (identity === "") return "has no identity";
  if (identity === UNALLOCATED) return `names ${UNALLOCATED}, which is nobody`;
  if ([value, identity].some((text) => text.length > LONGEST))
    return `has a text of more than ${LONGEST} characters`;
  return [value, identity].some((text) => UNFIT.test(text)) ? "has control characters" : undefined;
}

function refuseDays(validity: Validity): string | undefined {
  for (const name of DAYS) {
    const day = validity[name];
    if (day !== undefined && !isStoredDay(day)) return `has a ${name} that is not ${STORED_DAY}`;
  }
  const { valid_from: from, valid_to: to } = validity;
  return from !== undefined && to !== undefined && to < from
    ? "has a valid_to before its valid_from"
    : undefined;
}

function refuseRepeated(value: string, validity: Validity, earlier: readonly Entry[]): string | undefined {
  const same = earlier.find((each) => overlap(each.validity, validity));
  if (same === undefined) return undefined;
  const onDays =
    inWords(same.validity) === "" && inWords(validity) === "" ? "" : ", on some of the same days";
  return `has the value ${JSON.stringify(value)} of line ${same.line} again${onDays}`;
}

export function hashOf(map: ReadonlyMap<string, string>): string {
  const entries = [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  return digestOf(entries);
}

/**
 * The map of an identity source: a CSV file with the columns `value` and `identity`. The separator and the lines before
 * the header may vary as in a bill. The file is read once, together with the configuration, so a wrong file prevents
 * the start and never fails a run.
 */
import { readFileSync, statSync } from "node:fs";
import { CsvError, parse } from "csv-parse/sync";
import { preambleOf, separatorOf } from "../../common/csv-dialect.js";
import { digestOf } from "../../common/digest.js";
import { UNALLOCATED } from "../../domain/allocation-rule.js";

export interface IdentityMap {
  /** Hash of the entries: equal for files with equal entries. */
  readonly hash: string;
  /** Identities by value of the column, in the order of the file. */
  readonly entries: ReadonlyMap<string, string>;
}

const MOST_BYTES = 32 * 2 ** 20;
const MOST_ENTRIES = 200_000;
const HEADER = "value,identity";
const NO_HEADER = `must start with the header ${HEADER}`;
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
  if (header?.record.length !== 2 || header.record.join(",") !== HEADER) return { problem: NO_HEADER };
  if (entries.length > MOST_ENTRIES)
    return { problem: `has ${entries.length} entries; at most ${MOST_ENTRIES} are allowed` };
  const found = new Map<string, { identity: string; line: number }>();
  for (const { record, info } of entries) {
    const [value = "", identity = ""] = record;
    const line = linesBefore + info.lines;
    const refusal = refuseEntry(record) ?? refuseRepeated(value, found.get(value));
    if (refusal !== undefined) return { problem: `line ${line} ${refusal}` };
    found.set(value, { identity, line });
  }
  const map = new Map([...found].map(([value, { identity }]) => [value, identity]));
  return { hash: hashOf(map), entries: map };
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

function refuseEntry(record: readonly string[]): string | undefined {
  const [value = "", identity = ""] = record;
  if (record.length !== 2) return `has ${record.length} fields, not 2`;
  if (value === "") return "has no value";
  if (identity === "") return "has no identity";
  if (identity === UNALLOCATED) return `names ${UNALLOCATED}, which is nobody`;
  if ([value, identity].some((text) => text.length > LONGEST))
    return `has a text of more than ${LONGEST} characters`;
  return [value, identity].some((text) => UNFIT.test(text)) ? "has control characters" : undefined;
}

function refuseRepeated(value: string, earlier: { readonly line: number } | undefined): string | undefined {
  if (earlier === undefined) return undefined;
  return `has the value ${JSON.stringify(value)} of line ${earlier.line} again`;
}

export function hashOf(map: ReadonlyMap<string, string>): string {
  const entries = [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  return digestOf(entries);
}

/** Reads the header of a CSV file, which is its first row, and returns the whole file again. */
import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse/sync";
import { preambleOf, type Separator, separatorOf } from "../../common/csv-dialect.js";
import type { SourceColumn } from "../../focus/index.js";
import { MAX_COLUMNS, UnreadableFileError } from "../../focus/index.js";
import { notUtf8 } from "./utf8.js";

const LONGEST_HEADER_BYTES = 1_048_576;

export interface CsvHeader {
  /** Names are without surrounding blanks. */
  readonly sourceColumns: readonly SourceColumn[];
  readonly separator: Separator;
  /** The file, from the header on. */
  readonly text: Readable;
}

/** Throws `UnreadableFileError`, and what the stream throws. */
export async function csvHeader(plain: Readable): Promise<CsvHeader> {
  const [start, text] = await peeked(plain, LONGEST_HEADER_BYTES, endOfHeader, startOfHeader);
  const end = endOfHeader(start) ?? (start.length < LONGEST_HEADER_BYTES ? start.length : undefined);
  if (end === undefined) throw new UnreadableFileError("has a header of more than 1 MiB");
  const header = textOf(start.subarray(startOfHeader(start), end));
  const separator = preambleOf(latin1(start))?.separator ?? separatorOf(header);
  const sourceColumns = namesOf(header, separator).map((name) => ({ name: name.trim(), type: null }));
  requireColumns(sourceColumns.length);
  return { sourceColumns, separator, text };
}

function namesOf(header: string, separator: Separator): string[] {
  try {
    const options = { delimiter: separator, relax_quotes: true, relax_column_count: true, to: 1 } as const;
    return parse(header, options)[0] ?? [];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new UnreadableFileError("has a header in which a quote is not closed, or text follows one");
  }
}

/** Settings of a statement that contains a header or a footer. */
export const longStatement = { max_query_size: "67108864" } as const;

export function requireColumns(columns: number): void {
  if (columns > MAX_COLUMNS)
    throw new UnreadableFileError(`has ${columns} columns; at most ${MAX_COLUMNS} can be read`);
}

function textOf(header: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(header);
  } catch {
    throw notUtf8();
  }
}

/**
 * Returns the first bytes of a stream, and the stream from its start.
 *
 * @param skipped number of first bytes that the returned stream omits
 */
export async function peeked(
  stream: Readable,
  maxBytes: number,
  endOf: (head: Buffer) => number | undefined = () => undefined,
  skipped: (head: Buffer) => number = () => 0,
): Promise<[Buffer, Readable]> {
  const chunks = stream[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < maxBytes && endOf(head) === undefined) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    head = Buffer.concat([head, Buffer.from(value)]);
  }
  async function* fromStart() {
    const rest = head.subarray(skipped(head));
    if (rest.length > 0) yield rest;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  }
  const whole = Readable.from(fromStart(), { objectMode: false });
  whole.once("close", () => stream.destroy());
  return [head, whole];
}

/** Each byte becomes one character, so positions in the text are positions in the bytes. */
function latin1(bytes: Buffer): string {
  return bytes.toString("latin1");
}

/** Returns 0 if no header begins. */
function startOfHeader(start: Buffer): number {
  return preambleOf(latin1(start))?.length ?? 0;
}

/** Returns where the header ends: after the first line break outside of quotes. */
function endOfHeader(start: Buffer): number | undefined {
  const preamble = preambleOf(latin1(start));
  if (preamble === undefined) return undefined;
  let isQuoted = false;
  for (let at = preamble.length; at < start.length; at++) {
    if (start[at] === 0x22) isQuoted = !isQuoted;
    else if (start[at] === 0x0a && !isQuoted) return at + 1;
  }
  return undefined;
}

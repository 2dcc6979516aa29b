/** The header of a CSV file, which is its first row, and the whole file again. */
import { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import { csvSettings, csvStructure, withoutMark } from "../../focus/csv.js";
import type { WrittenColumn } from "../../focus/file.js";
import { MOST_COLUMNS, UnreadableFile } from "../../focus/format.js";
import { literal } from "../../store/clickhouse/sql-text.js";
import { readRows, readTuples } from "../../store/clickhouse/statement.js";
import { notUtf8 } from "./utf8.js";

const LONGEST_HEADER_BYTES = 1_048_576;

export interface CsvHeader {
  readonly written: readonly WrittenColumn[];
  /** From the start. */
  readonly text: Readable;
}

/** Throws `UnreadableFile`, and what the stream throws. */
export async function csvHeader(
  client: ClickHouseClient,
  plain: Readable,
  signal: AbortSignal,
): Promise<CsvHeader> {
  const [start, text] = await peeked(plain, LONGEST_HEADER_BYTES, endOfRow);
  const end = endOfRow(start) ?? (start.length < LONGEST_HEADER_BYTES ? start.length : undefined);
  if (end === undefined) throw new UnreadableFile("has a header of more than 1 MiB");
  return { written: await csvColumns(client, start.subarray(0, end), signal), text };
}

/** @param header the first row of the file */
async function csvColumns(
  client: ClickHouseClient,
  header: Buffer,
  signal: AbortSignal,
): Promise<WrittenColumn[]> {
  const row = literal(textOf(header));
  const described = await readRows<{ name: string }>(
    client,
    { query: `DESCRIBE TABLE format(CSV, ${row})`, params: {} },
    signal,
    { ...csvSettings, ...longStatement },
  );
  requireColumns(described.length);
  const structure = literal(csvStructure(described.length));
  const [names = []] = await readTuples<(string | null)[]>(
    client,
    {
      query: `SELECT * FROM format(CSV, ${structure}, ${row}) LIMIT 1 SETTINGS input_format_csv_trim_whitespaces = 0`,
      params: {},
    },
    signal,
  );
  return names.map((name, at) => ({ name: at === 0 ? withoutMark(name ?? "") : (name ?? ""), type: null }));
}

/** Settings of a statement with a header or a footer in it. */
export const longStatement = { max_query_size: "67108864" } as const;

export function requireColumns(columns: number): void {
  if (columns > MOST_COLUMNS)
    throw new UnreadableFile(`has ${columns} columns; at most ${MOST_COLUMNS} can be read`);
}

function textOf(header: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(header);
  } catch {
    throw notUtf8();
  }
}

/** The first bytes of a stream, and the whole stream again. */
export async function peeked(
  stream: Readable,
  most: number,
  enough: (head: Buffer) => number | undefined = () => undefined,
): Promise<[Buffer, Readable]> {
  const chunks = stream[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < most && enough(head) === undefined) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    head = Buffer.concat([head, Buffer.from(value)]);
  }
  async function* again() {
    if (head.length > 0) yield head;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  }
  const whole = Readable.from(again(), { objectMode: false });
  whole.once("close", () => stream.destroy());
  return [head, whole];
}

/** Where the first row ends: at the first line break that is not within quotes. */
function endOfRow(text: Buffer): number | undefined {
  let isQuoted = false;
  for (const [at, byte] of text.entries()) {
    if (byte === 0x22) isQuoted = !isQuoted;
    else if (byte === 0x0a && !isQuoted) return at + 1;
  }
  return undefined;
}

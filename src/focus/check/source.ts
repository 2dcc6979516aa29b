/** Detects the format of a file from its first bytes, and reads its columns. */
import { type FileHandle, open } from "node:fs/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import { literal } from "../../clickhouse/sql-text.js";
import { readRows, readTuples } from "../../clickhouse/statement.js";
import { csvSettings, csvStructure, settingsText, withoutMark } from "../csv.js";
import { type CsvOrParquet, formatOf, MAX_COLUMNS, UnreadableFileError } from "../format.js";
import type { SourceColumn } from "../map-columns.js";

/** Detects the format from the content, so that a wrong file extension does not matter. */
export async function recognise(path: string): Promise<CsvOrParquet> {
  return formatOf(await firstBytes(path));
}

/** The first four bytes, or all of a shorter file. */
async function firstBytes(path: string): Promise<Buffer> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, "r");
    // A pipe cannot be read twice, and a device may be endless.
    if (!(await file.stat()).isFile()) throw new UnreadableFileError("is not a file");
    const { bytesRead, buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (error instanceof UnreadableFileError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UnreadableFileError(code === "ENOENT" ? "does not exist" : `cannot be read: ${message}`);
  } finally {
    await file?.close();
  }
}

export async function columnsOfFile(
  client: ClickHouseClient,
  path: string,
  { format, compression }: CsvOrParquet,
  signal?: AbortSignal,
): Promise<SourceColumn[]> {
  const described = await readRows<{ name: string; type: string }>(
    client,
    {
      query: `DESCRIBE TABLE file(${literal(path)}, '${format}', 'auto', '${compression}')`,
      params: {},
    },
    signal,
    // Only the header determines the number of columns. Rows of another length are reported when the rows are read.
    { ...csvSettings, input_format_max_rows_to_read_for_schema_inference: "1", max_threads: 1 },
  );
  if (described.length > MAX_COLUMNS)
    throw new UnreadableFileError(`has ${described.length} columns; at most ${MAX_COLUMNS} can be read`);
  if (format === "Parquet") return described.map(({ name, type }) => ({ name, type }));
  const source = `file(${literal(path)}, 'CSV', ${literal(csvStructure(described.length))}, '${compression}')`;
  const [header = []] = await readTuples<(string | null)[]>(
    client,
    { query: `SELECT * FROM ${source} LIMIT 1 SETTINGS ${settingsText(csvSettings)}`, params: {} },
    signal,
  );
  // The engine includes the byte order mark in the first name, and then also its quotes.
  return header.map((name, at) => ({ name: at === 0 ? withoutMark(name ?? "") : (name ?? ""), type: null }));
}

/**
 * Rejects files with an unclosed quote, such as truncated ones. The engine would read all that follows as one value.
 */
export async function requireClosedQuotes(
  client: ClickHouseClient,
  path: string,
  { compression }: CsvOrParquet,
  signal?: AbortSignal,
): Promise<void> {
  const lines = `file(${literal(path)}, 'LineAsString', 'line String', '${compression}')`;
  const query = `SELECT sum(countSubstrings(line, '"')) % 2 FROM ${lines}`;
  const [[odd] = []] = await readTuples<number[]>(client, { query, params: {} }, signal);
  if (odd === 1)
    throw new UnreadableFileError(
      "cannot be read as CSV: it has an odd number of quotes, so a value is not closed or the file is cut off",
    );
}

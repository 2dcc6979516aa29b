/** Opens a delivered file for the engine: detects its format and columns, and unpacks its bytes. */
import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { ClickHouseClient } from "@clickhouse/client";
import { literal } from "../../../../clickhouse/sql-text.js";
import { readRows } from "../../../../clickhouse/statement.js";
import type { Separator } from "../../../../common/csv-dialect.js";
import { readerError } from "../../../../common/reader-error.js";
import { formatOf, type Source, type SourceColumn, UnreadableFileError } from "../../../../focus/index.js";
import { csvHeader, longStatement, peeked, requireColumns } from "../../../csv/header.js";
import { limited, tooMuchUnpacked } from "../../../csv/limited.js";
import { unzstd } from "../../../csv/unzstd.js";
import { utf8 } from "../../../csv/utf8.js";
import { withEnd } from "../../../csv/with-end.js";
import type { DeliveredFile } from "../sources/delivery.js";

export interface OpenedFile {
  readonly format: "CSV" | "Parquet";
  readonly sourceColumns: readonly SourceColumn[];
  /** Separator of the values of a CSV file. */
  readonly separator: Separator;
  /** First value of the row that follows the last one of a CSV file. */
  readonly endMark: string;
  readonly body: Readable;
  close(): Promise<void>;
}

const LONGEST_FOOTER_BYTES = 32 * 1_048_576;

/** Throws `UnreadableFileError`, and what `file.open` throws. */
export async function openFile(
  client: ClickHouseClient,
  file: DeliveredFile,
  signal: AbortSignal,
): Promise<OpenedFile> {
  const bytes = await file.open(signal);
  try {
    const [head, all] = await peeked(bytes, 4);
    const source = formatOf(head);
    if (source.format === "Parquet") return await openParquet(client, all, file.maxUnpackedMib, signal);
    const plain = decompressed(all, source, file.maxUnpackedMib);
    const { sourceColumns, separator, text } = await csvHeader(plain);
    const endMark = `end ${randomUUID()}`;
    const endRow = `${endMark}${separator.repeat(sourceColumns.length - 1)}\n`;
    const body = Readable.from(withEnd(utf8(text), endRow), { objectMode: false });
    const close = async () => {
      body.destroy();
      bytes.destroy();
    };
    return { format: "CSV", sourceColumns, separator, endMark, body, close };
  } catch (error) {
    bytes.destroy();
    throw error;
  }
}

/** Copies the file to disk first, because Parquet states its columns at its end. */
async function openParquet(
  client: ClickHouseClient,
  bytes: Readable,
  maxUnpackedMib: number,
  signal: AbortSignal,
): Promise<OpenedFile> {
  const folder = await mkdtemp(join(tmpdir(), "chargehouse-bill-"));
  let body: Readable | undefined;
  const close = async () => {
    body?.destroy();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const path = join(folder, "part.parquet");
    await pipeline(bytes, createWriteStream(path), { signal });
    const footer = await footerOf(path);
    if ((await unpackedBytes(client, footer, signal)) > maxUnpackedMib * 1_048_576)
      throw tooMuchUnpacked(maxUnpackedMib);
    const sourceColumns = await parquetColumns(client, footer, signal);
    body = readerError(createReadStream(path));
    return { format: "Parquet", sourceColumns, separator: ",", endMark: "", body, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns a Parquet file with the same columns and without rows: both markers and the footer between them. */
async function footerOf(path: string): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(8);
    if (size >= 12) await file.read(tail, 0, 8, size - 8);
    const length = tail.readUInt32LE(0);
    if (tail.toString("latin1", 4) !== "PAR1" || length + 12 > size)
      throw new UnreadableFileError("cannot be read as Parquet: it is cut off");
    if (length > LONGEST_FOOTER_BYTES)
      throw new UnreadableFileError("has a Parquet footer of more than 32 MiB");
    const footer = Buffer.alloc(length);
    await file.read(footer, 0, length, size - 8 - length);
    return Buffer.concat([Buffer.from("PAR1"), footer, tail]);
  } finally {
    await file.close();
  }
}

/** Returns `bytes` unpacked, or as they are if they are not compressed. */
export function decompressed(bytes: Readable, { compression }: Source, maxUnpackedMib: number): Readable {
  if (compression === "none") return bytes;
  const unpacked = compression === "zstd" ? unzstd(bytes) : gunzipped(bytes);
  return Readable.from(limited(unpacked, maxUnpackedMib), { objectMode: false });
}

function gunzipped(bytes: Readable): Readable {
  const decoder = createGunzip();
  bytes.once("error", (error) => decoder.destroy(error));
  decoder.once("close", () => bytes.destroy());
  return bytes.pipe(decoder);
}

/** @param footer a Parquet file, with or without its rows */
async function parquetColumns(
  client: ClickHouseClient,
  footer: Buffer,
  signal: AbortSignal,
): Promise<SourceColumn[]> {
  const columns = await readRows<{ name: string; type: string }>(
    client,
    {
      query: `DESCRIBE TABLE format(Parquet, base64Decode(${literal(footer.toString("base64"))}))`,
      params: {},
    },
    signal,
    longStatement,
  );
  requireColumns(columns.length);
  return columns.map(({ name, type }) => ({ name, type }));
}

/** @param footer as above. @returns the unpacked size of the file's columns that the footer states, in bytes */
async function unpackedBytes(client: ClickHouseClient, footer: Buffer, signal: AbortSignal): Promise<number> {
  const [row] = await readRows<{ bytes: number }>(
    client,
    {
      query: `SELECT toFloat64(total_uncompressed_size) AS bytes FROM format(ParquetMetadata, base64Decode(${literal(footer.toString("base64"))}))`,
      params: {},
    },
    signal,
    longStatement,
  );
  return row?.bytes ?? 0;
}

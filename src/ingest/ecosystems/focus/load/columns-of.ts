/** Columns of a Parquet file as the engine reads them, from its footer alone. */
import type { ClickHouseClient } from "@clickhouse/client";
import { literal } from "../../../../clickhouse/sql-text.js";
import { readRows } from "../../../../clickhouse/statement.js";
import type { WrittenColumn } from "../../../../focus/index.js";
import { longStatement, requireColumns } from "../../../csv/header.js";

/** @param footer a Parquet file, with or without its rows */
export async function parquetColumns(
  client: ClickHouseClient,
  footer: Buffer,
  signal: AbortSignal,
): Promise<WrittenColumn[]> {
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
export async function unpackedBytes(
  client: ClickHouseClient,
  footer: Buffer,
  signal: AbortSignal,
): Promise<number> {
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

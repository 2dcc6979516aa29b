import type { ClickHouseClient } from "@clickhouse/client";
import { bareLines } from "../../query/export/csv-cell.js";
import { engineBytes } from "../../store/clickhouse/engine-bytes.js";
import { type CsvContent, csvHeader, csvRows } from "./rows.js";

/** Streams the bytes of a file. */
export async function* csvBytes(
  client: ClickHouseClient,
  content: CsvContent,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  yield Buffer.from(csvHeader(content.layout));
  yield* await engineBytes(client, csvRows(content), signal, bareLines);
}

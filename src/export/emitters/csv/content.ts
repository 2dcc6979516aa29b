import type { ClickHouseClient } from "@clickhouse/client";
import { engineBytes } from "../../../clickhouse/engine-bytes.js";
import { bareLines } from "../../../query/csv-cell.js";
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

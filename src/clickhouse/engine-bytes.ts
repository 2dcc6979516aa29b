/** The output of a statement as bytes, passed on as they arrive, for responses that are never parsed into rows here. */
import { addAbortSignal } from "node:stream";
import type { ClickHouseClient, ClickHouseSettings } from "@clickhouse/client";
import { readSettings, type Statement } from "./statement.js";
import { refuseBrokenEnd } from "./stream-end.js";

/**
 * Blocks of one granule, whatever the columns: reading in key order then costs nothing (0.6 s for 5 M rows; 1.3 s with
 * ClickHouse's default). Four granules are no faster and take 190 MiB more. Sorts that exceed memory use the disk.
 */
const streamSettings: ClickHouseSettings = {
  ...readSettings,
  max_block_size: "65536",
  preferred_block_size_bytes: "0",
  max_bytes_before_external_sort: "300000000",
};

/** Settings for GROUP BY results that may exceed memory. */
export const spillingGroups = {
  max_bytes_before_external_group_by: "300000000",
  max_bytes_ratio_before_external_sort: 0,
  max_bytes_ratio_before_external_group_by: 0,
} as const satisfies ClickHouseSettings;

/**
 * Returns when the engine has begun to write. Later errors and a truncated end throw while the bytes are read. Stopping
 * to read cancels the statement.
 */
export async function engineBytes(
  client: ClickHouseClient,
  { query, params }: Statement,
  signal: AbortSignal,
  settings: ClickHouseSettings,
): Promise<AsyncIterable<Buffer>> {
  const result = await client.exec({
    query,
    query_params: { ...params },
    clickhouse_settings: { ...streamSettings, ...settings },
    abort_signal: signal,
  });
  const tag = result.response_headers["x-clickhouse-exception-tag"];
  return refuseBrokenEnd(addAbortSignal(signal, result.stream), typeof tag === "string" ? tag : undefined);
}

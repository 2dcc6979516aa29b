/** The bytes that the engine writes for a statement, passed on as they arrive: of answers that never become rows here. */
import { addAbortSignal } from "node:stream";
import type { ClickHouseClient, ClickHouseSettings } from "@clickhouse/client";
import { readSettings, type Statement } from "./statement.js";
import { refuseBrokenEnd } from "./stream-end.js";

/**
 * Blocks of a granule, whatever the columns: reading in key order then costs nothing (0.6 s on 5 M rows, 1.3 s with the engine's default).
 * Four granules are no faster and hold 190 MiB more. What does not fit memory is sorted on disk.
 */
const streamSettings: ClickHouseSettings = {
  ...readSettings,
  max_block_size: "65536",
  preferred_block_size_bytes: "0",
  max_bytes_before_external_sort: "300000000",
};

/** For groups that may be more than fit memory. */
export const spillingGroups = {
  max_bytes_before_external_group_by: "300000000",
  max_bytes_ratio_before_external_sort: 0,
  max_bytes_ratio_before_external_group_by: 0,
} as const satisfies ClickHouseSettings;

/**
 * Returns once the engine has begun to write. What fails later throws while it is read, and so does an end that is not whole.
 * Reading no further cancels the statement.
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

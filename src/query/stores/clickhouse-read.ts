/** Runs a read on a tenant's store: cancelled with its signal, in the store as well, and never able to write. */
import type { ClickHouseClient, ClickHouseSettings } from "@clickhouse/client";

/** A read as a pure function gives it: values stand in `params` alone, as `{name:Type}` of the text. */
export interface ClickHouseRead {
  readonly query: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * A client that goes away cancels its statement: the embedded engine does so for every statement, a server only for
 * read-only ones, and only when it is asked to. Instants come as `2026-01-01T00:00:00Z`, 64-bit numbers as strings.
 *
 * Two of the engine's shortcuts are off, because together they lose rows (26.7; others are reported for each of them): a page
 * whose columns were fetched late left an entry in the cache of conditions that says no row matches, and the same page was empty
 * from then on. Neither saves anything that could be measured here.
 */
export const readSettings: ClickHouseSettings = {
  readonly: "2",
  cancel_http_readonly_queries_on_client_close: 1,
  date_time_output_format: "iso",
  output_format_json_quote_64bit_integers: 1,
  use_query_condition_cache: 0,
  query_plan_optimize_lazy_materialization: 0,
};

/** Rows as the engine writes them; the caller names their type, which its query's columns have to be. */
export async function readRows<Row>(
  client: ClickHouseClient,
  read: ClickHouseRead,
  signal?: AbortSignal,
): Promise<Row[]> {
  return readAs<Row>("JSONEachRow", client, read, signal);
}

/** Rows as lists of values, in the order of the columns: half the bytes, where there are thousands. */
export async function readTuples<Row extends readonly unknown[]>(
  client: ClickHouseClient,
  read: ClickHouseRead,
  signal?: AbortSignal,
): Promise<Row[]> {
  return readAs<Row>("JSONCompactEachRow", client, read, signal);
}

async function readAs<Row>(
  format: "JSONEachRow" | "JSONCompactEachRow",
  client: ClickHouseClient,
  { query, params }: ClickHouseRead,
  signal?: AbortSignal,
): Promise<Row[]> {
  signal?.throwIfAborted();
  const result = await client.query({
    query,
    query_params: { ...params },
    format,
    clickhouse_settings: readSettings,
    ...(signal && { abort_signal: signal }),
  });
  const rows = await result.json<Row>();
  // The client ends a cancelled read without an error when it had all of the answer's head.
  signal?.throwIfAborted();
  return rows;
}

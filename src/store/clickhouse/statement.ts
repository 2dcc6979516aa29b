/** Statements on a tenant's store as plain values, and the one way to read rows: never able to write, and cancelled with its signal. */
import type { ClickHouseClient, ClickHouseSettings } from "@clickhouse/client";

/** Values stand in `params` alone, as `{name:Type}` of the text. */
export interface Statement {
  readonly query: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * A client that goes away cancels its statement: the embedded engine does so for every statement, a server only for
 * read-only ones, and only when it is asked to. Instants come as `2026-01-01T00:00:00Z`, 64-bit numbers as strings.
 */
export const readSettings: ClickHouseSettings = {
  readonly: "2",
  cancel_http_readonly_queries_on_client_close: 1,
  date_time_output_format: "iso",
  output_format_json_quote_64bit_integers: 1,
};

/** Rows as the engine writes them; the caller names their type, which its query's columns have to be. */
export async function readRows<Row>(
  client: ClickHouseClient,
  statement: Statement,
  signal?: AbortSignal,
  settings?: ClickHouseSettings,
): Promise<Row[]> {
  return readAs<Row>("JSONEachRow", client, statement, signal, settings);
}

/** Rows as lists of values, in the order of the columns: half the bytes, where there are thousands. */
export async function readTuples<Row extends readonly unknown[]>(
  client: ClickHouseClient,
  statement: Statement,
  signal?: AbortSignal,
): Promise<Row[]> {
  return readAs<Row>("JSONCompactEachRow", client, statement, signal);
}

async function readAs<Row>(
  format: "JSONEachRow" | "JSONCompactEachRow",
  client: ClickHouseClient,
  { query, params }: Statement,
  signal?: AbortSignal,
  settings: ClickHouseSettings = {},
): Promise<Row[]> {
  signal?.throwIfAborted();
  const result = await client.query({
    query,
    query_params: { ...params },
    format,
    clickhouse_settings: { ...readSettings, ...settings },
    ...(signal && { abort_signal: signal }),
  });
  const rows = await result.json<Row>();
  // The client ends a cancelled read without an error when it had all of the answer's head.
  signal?.throwIfAborted();
  return rows;
}

import type { ClickHouseClient } from "@clickhouse/client";

/**
 * Which days of which tables have rows. Asked of the engine's list of parts, for all tables at once and without reading a
 * row: 10 ms, where a `SELECT DISTINCT day` of each table took 8 ms a table and read every part of it.
 */
export async function filledDays(
  client: ClickHouseClient,
  tables: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const result = await client.query({
    query: `SELECT table, groupUniqArray(partition) AS days FROM system.parts
            WHERE database = currentDatabase() AND active AND rows > 0 AND table IN {tables:Array(String)}
            GROUP BY table`,
    query_params: { tables },
    format: "JSONEachRow",
    ...(signal && { abort_signal: signal }),
  });
  const found = new Map(
    (await result.json<{ table: string; days: string[] }>()).map((row) => [row.table, new Set(row.days)]),
  );
  return new Map(tables.map((table) => [table, found.get(table) ?? new Set()]));
}

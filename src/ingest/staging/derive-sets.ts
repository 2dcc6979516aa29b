/** Identities that metrics prove were active become the `metrics_derived` sets of the staged days, also with usage 0. */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay, stagedTable } from "../../store/clickhouse/staging.js";

export async function deriveMetricSets(
  client: ClickHouseClient,
  { epoch, days, metrics }: { epoch: number; days: readonly string[]; metrics: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  if (days.length === 0 || metrics.length === 0) return;
  await client.command({
    query: `
      INSERT INTO ${stagedTable("identity_sets", epoch)} (day, scope, resource_id, identity_id)
      SELECT DISTINCT day, 'metrics_derived', resource_id, identity_id
      FROM ${stagedTable("usage", epoch)}
      WHERE day IN {days:Array(Date)} AND metric IN {metrics:Array(String)}`,
    query_params: { days: days.map(isoDay), metrics: [...metrics] },
    clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    abort_signal: signal,
  });
}

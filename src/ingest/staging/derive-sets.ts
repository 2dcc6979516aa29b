/**
 * Turns identities that metrics prove to have been active into the `metrics_derived` sets of the staged days, including
 * those with usage 0. If such a metric has a gap, the set may be incomplete, so it gets the gap as well.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import { UNALLOCATED } from "../../domain/allocation-rule.js";

export async function deriveMetricSets(
  client: ClickHouseClient,
  {
    epoch,
    days,
    metrics,
    unknownOwnersAreActive,
  }: { epoch: number; days: readonly string[]; metrics: readonly string[]; unknownOwnersAreActive: boolean },
  signal: AbortSignal,
): Promise<void> {
  if (days.length === 0 || metrics.length === 0) return;
  const metricCondition = "WHERE day IN {days:Array(Date)} AND metric IN {metrics:Array(String)}";
  const identityCondition = unknownOwnersAreActive ? "" : ` AND identity_id != '${UNALLOCATED}'`;
  const statements = [
    `INSERT INTO ${stagedTable("identity_sets", epoch)} (day, scope, resource_id, identity_id)
     SELECT DISTINCT day, 'metrics_derived', resource_id, identity_id FROM ${stagedTable("usage", epoch)} ${metricCondition}${identityCondition}`,
    `INSERT INTO ${stagedTable("usage_gaps", epoch)} (day, metric, resource_id, reason)
     SELECT day, 'metrics_derived', resource_id, any(reason) FROM ${stagedTable("usage_gaps", epoch)} ${metricCondition}
     GROUP BY day, resource_id`,
  ];
  for (const query of statements) {
    await client.command({
      query,
      query_params: { days: days.map(isoDay), metrics: [...metrics] },
      clickhouse_settings: { max_partitions_per_insert_block: "1000" },
      abort_signal: signal,
    });
  }
}

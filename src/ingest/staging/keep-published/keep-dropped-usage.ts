/**
 * Keeps published usage whose samples the upstream has dropped. A Prometheus keeps its samples for a while and then
 * returns status 200 without data, as if nothing had happened. So if a published day was measured, and now has less of
 * a metric on a resource, the published usage is staged again, unless the upstream still has samples from before the
 * day. In that case the drop is real.
 *
 * Usage counts as reduced if any step is lower than before, or an identity is missing. Increases are always accepted.
 * So is usage that moves from UNALLOCATED to a known owner while the total stays the same.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../../clickhouse/sql-text.js";
import { rewriteStagedDays, stagedTable } from "../../../clickhouse/staging.js";
import { readRows } from "../../../clickhouse/statement.js";
import { isDerivedMetric } from "../../../config/allocation/derived-facts.js";
import type { MeasuredFacts, StagedDays } from "../measured-facts.js";

/** A metric that has less usage than published on these days and resources (at most 100 of them are named). */
export interface ReducedUsage {
  readonly metric: string;
  readonly resources: readonly string[];
  readonly days: readonly string[];
}

/**
 * Returns those of the days whose samples the upstream still has, because it has samples from before the day. Their new
 * values are real.
 */
export type RetentionCovers = (reduced: ReducedUsage, signal: AbortSignal) => Promise<readonly string[]>;

/** Returns the days with kept usage, ascending. */
export async function keepDroppedUsage(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  { facts, retentionCovers }: { readonly facts: MeasuredFacts; readonly retentionCovers: RetentionCovers },
  signal: AbortSignal,
): Promise<string[]> {
  if (days.length === 0) return [];
  const reduced = reducedFacts(epoch, facts);
  const found = await reducedMetrics(client, reduced, days, signal);
  const kept = await notCovered(found, retentionCovers, signal);
  if (kept.length === 0) return [];
  const scope = {
    query_params: {
      days: days.map(isoDay),
      kept_days: kept.map(({ day }) => isoDay(day)),
      kept_metrics: kept.map(({ metric }) => metric),
    },
    clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    abort_signal: signal,
  };
  const usage = stagedTable(facts.ledger.usage, epoch);
  const isKept = `
    day IN {kept_days:Array(Date)} AND (day, toString(metric), toString(resource_id)) IN (
      SELECT day, metric, resource_id FROM (${reduced})
      WHERE (day, metric) IN (SELECT arrayJoin(arrayZip({kept_days:Array(Date)}, {kept_metrics:Array(String)})))
    )`;
  const daysKept = [...new Set(kept.map(({ day }) => day))].sort();
  // Deleting the reduced facts does not change which facts are reduced, so both statements mean the same facts.
  await rewriteStagedDays(client, {
    table: facts.ledger.usage,
    epoch,
    days: daysKept,
    signal,
    params: scope.query_params,
    select: "*",
    where: `NOT (${isKept})`,
  });
  const columns = `timestamp, metric, resource_id, ${facts.ledger.recipient}, micro_units, scale`;
  await client.command({
    ...scope,
    query: `INSERT INTO ${usage} (${columns}) SELECT ${columns} FROM ${facts.ledger.usage} WHERE ${isKept}`,
  });
  return daysKept;
}

/** In units. */
const QUANTITY = "toFloat64(micro_units) / exp10(scale)";
/** The stored unit may have changed since then; a difference from rounding is not a reduction. */
const ROUNDING = "1.000000001";

/** Selects rows `{day, metric, resource_id}` of resources that are billed now, and of metrics that could be fetched. */
function reducedFacts(epoch: number, { ledger: { usage, gaps, recipient, nobody } }: MeasuredFacts): string {
  const inDays = "WHERE day IN {days:Array(Date)}";
  const of = "day, toString(metric) AS metric, toString(resource_id) AS resource_id";
  const both = (columns: string) => `
      SELECT ${of}, ${columns}, ${QUANTITY} AS before, toFloat64(0) AS now, 1 AS was_seen, 0 AS is_seen FROM ${usage} ${inDays} AND NOT ${isDerivedMetric("metric")}
      UNION ALL
      SELECT ${of}, ${columns}, toFloat64(0), ${QUANTITY}, 0, 1 FROM ${stagedTable(usage, epoch)} ${inDays}`;
  return `
    SELECT DISTINCT day, metric, resource_id FROM (
      SELECT day, metric, resource_id FROM (${both("timestamp")})
      GROUP BY day, metric, resource_id, timestamp HAVING sum(before) > sum(now) * ${ROUNDING}
      UNION ALL
      SELECT day, metric, resource_id FROM (${both(`toString(${recipient}) AS who`)})
      GROUP BY day, metric, resource_id, who HAVING max(was_seen) > max(is_seen) AND who != '${nobody}'
    )
    WHERE (day, resource_id) IN (SELECT day, toString(resource_id) FROM ${stagedTable("billing", epoch)} ${inDays})
      AND (day, metric, resource_id) NOT IN (SELECT day, toString(metric), toString(resource_id) FROM ${stagedTable(gaps, epoch)} ${inDays})`;
}

async function reducedMetrics(
  client: ClickHouseClient,
  reduced: string,
  days: readonly string[],
  signal: AbortSignal,
): Promise<ReducedUsage[]> {
  const read = {
    query: `
      SELECT metric, arraySort(groupUniqArray(100)(resource_id)) AS resources, arraySort(groupUniqArray(toString(day))) AS days
      FROM (SELECT toString(day) AS day, metric, resource_id FROM (${reduced})) GROUP BY metric ORDER BY metric`,
    params: { days: days.map(isoDay) },
  };
  return await readRows<ReducedUsage>(client, read, signal);
}

export interface KeptMetric {
  readonly day: string;
  readonly metric: string;
}

/** If the upstream cannot tell whether it still has the samples, we keep the published usage. */
export async function notCovered(
  found: readonly ReducedUsage[],
  retentionCovers: RetentionCovers,
  signal: AbortSignal,
): Promise<KeptMetric[]> {
  const kept: KeptMetric[] = [];
  for (const reduced of found) {
    const covered = new Set(await retentionCovers(reduced, signal));
    for (const day of reduced.days) if (!covered.has(day)) kept.push({ day, metric: reduced.metric });
  }
  return kept;
}

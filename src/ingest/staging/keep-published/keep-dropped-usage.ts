/**
 * Samples that an upstream has dropped never change a measured day. A Prometheus keeps its samples for a while and then returns nothing,
 * with status 200, as if there had been nothing: so where a published day was measured, and now measures less of a metric on a
 * resource, what is published is staged again, unless the upstream still has samples from before the day. Then less is news.
 *
 * Less: in some step less was used than before, or somebody is not seen any more. More is always news, and so is who it was: that nobody's part
 * has gone, and the whole has not, means that its owner is known by now.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isDerivedMetric } from "../../../config/allocation/derived-facts.js";
import { isoDay } from "../../../store/clickhouse/sql-text.js";
import { rewriteStagedDays, stagedTable } from "../../../store/clickhouse/staging.js";
import { readRows } from "../../../store/clickhouse/statement.js";
import type { MeasuredFacts, StagedDays } from "../measured-facts.js";

/** Less is measured of a metric on these days, and on these resources (at most 100 of them are named), than is published. */
export interface ReducedUsage {
  readonly metric: string;
  readonly resources: readonly string[];
  readonly days: readonly string[];
}

/** Of the days, those that the upstream still has samples from before of: what it says of them is news. */
export type RetentionCovers = (thinner: ReducedUsage, signal: AbortSignal) => Promise<readonly string[]>;

/** Returns the days of which something was kept, ascending. */
export async function keepDroppedUsage(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  { facts, stillCovers }: { readonly facts: MeasuredFacts; readonly stillCovers: RetentionCovers },
  signal: AbortSignal,
): Promise<string[]> {
  if (days.length === 0) return [];
  const thinner = thinnerFacts(epoch, facts);
  const found = await thinnerMetrics(client, thinner, days, signal);
  const kept = await notCovered(found, stillCovers, signal);
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
      SELECT day, metric, resource_id FROM (${thinner})
      WHERE (day, metric) IN (SELECT arrayJoin(arrayZip({kept_days:Array(Date)}, {kept_metrics:Array(String)})))
    )`;
  const daysKept = [...new Set(kept.map(({ day }) => day))].sort();
  // Once its facts are gone, what was thinner still is: both statements mean the same facts.
  await rewriteStagedDays(client, {
    ...{ table: facts.ledger.usage, epoch, days: daysKept, signal, params: scope.query_params },
    ...{ select: "*", where: `NOT (${isKept})` },
  });
  const columns = `timestamp, metric, resource_id, ${facts.ledger.recipient}, micro_units, scale`;
  await client.command({
    ...scope,
    query: `INSERT INTO ${usage} (${columns}) SELECT ${columns} FROM ${facts.ledger.usage} WHERE ${isKept}`,
  });
  return daysKept;
}

/** In millionths. */
const QUANTITY = "toFloat64(micro_units) / exp10(scale)";
/** The unit that is stored may have changed since: what is rounded in another place is not less. */
const ROUNDING = "1.000000001";

/** Rows `{day, metric, resource_id}`. Only of resources that are billed now, and of metrics that could be had. */
function thinnerFacts(epoch: number, { ledger: { usage, gaps, recipient, nobody } }: MeasuredFacts): string {
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

async function thinnerMetrics(
  client: ClickHouseClient,
  thinner: string,
  days: readonly string[],
  signal: AbortSignal,
): Promise<ReducedUsage[]> {
  const read = {
    query: `
      SELECT metric, arraySort(groupUniqArray(100)(resource_id)) AS resources, arraySort(groupUniqArray(toString(day))) AS days
      FROM (SELECT toString(day) AS day, metric, resource_id FROM (${thinner})) GROUP BY metric ORDER BY metric`,
    params: { days: days.map(isoDay) },
  };
  return await readRows<ReducedUsage>(client, read, signal);
}

export interface KeptOfMetric {
  readonly day: string;
  readonly metric: string;
}

/** An upstream that does not say keeps nothing from being kept. */
export async function notCovered(
  found: readonly ReducedUsage[],
  stillCovers: RetentionCovers,
  signal: AbortSignal,
): Promise<KeptOfMetric[]> {
  const kept: KeptOfMetric[] = [];
  for (const thinner of found) {
    const covered = new Set(await stillCovers(thinner, signal));
    for (const day of thinner.days) if (!covered.has(day)) kept.push({ day, metric: thinner.metric });
  }
  return kept;
}

/**
 * A metric that cannot be fetched any more does not undo what it said before: where a day is published with usage of it, that
 * usage is staged again and the gap is forgotten. So an outage, or a Prometheus that has dropped old samples, neither
 * degrades a healthy day nor makes it wait, and a bill that is revised meanwhile is split by what was measured.
 *
 * Only where the bill names no resource that is new to the day: of that one nothing was measured, and the day has to wait.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay, stagedTable } from "../../store/clickhouse/staging.js";

export interface StagedDays {
  readonly epoch: number;
  readonly days: readonly string[];
}

/** Of which facts: usage of identities, or of topics, which only lines of some product types are attributed to. */
export interface MeasuredFacts {
  readonly usage: "usage" | "topic_usage";
  readonly gaps: "usage_gaps" | "topic_usage_gaps";
  readonly recipient: "identity_id" | "topic_name";
  /** All metrics are measured together: a day with usage of one of them was measured for the others too, if only as nothing. */
  readonly together: boolean;
  /** Only lines of these count. Left out: all lines. */
  readonly productTypes?: readonly string[];
}

export const identityFacts: MeasuredFacts = {
  usage: "usage",
  gaps: "usage_gaps",
  recipient: "identity_id",
  together: false,
};

export const topicFacts: MeasuredFacts = {
  usage: "topic_usage",
  gaps: "topic_usage_gaps",
  recipient: "topic_name",
  together: true,
};

interface KeptMetric {
  readonly day: string;
  readonly metric: string;
}

/** Answers the days of which some metric was kept, ascending. */
export async function keepMeasuredUsage(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  facts: MeasuredFacts,
  signal: AbortSignal,
): Promise<string[]> {
  if (days.length === 0) return [];
  const kept = await keptMetrics(client, { epoch, days }, facts, signal);
  if (kept.length === 0) return [];
  const usage = stagedTable(facts.usage, epoch);
  const columns = `timestamp, metric, resource_id, ${facts.recipient}`;
  const params = {
    kept_days: kept.map(({ day }) => isoDay(day)),
    kept_metrics: kept.map(({ metric }) => metric),
  };
  const pairs = "(SELECT arrayJoin(arrayZip({kept_days:Array(Date)}, {kept_metrics:Array(String)})))";
  // Facts that came before the fetch broke off are there already.
  await client.command({
    query: `
      INSERT INTO ${usage} (${columns}, micro_units)
      SELECT ${columns}, micro_units FROM ${facts.usage}
      WHERE day IN {kept_days:Array(Date)} AND (day, toString(metric)) IN ${pairs}
        AND (${columns}) NOT IN (
          SELECT ${columns} FROM ${usage} WHERE day IN {kept_days:Array(Date)}
        )`,
    query_params: params,
    clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    abort_signal: signal,
  });
  await client.command({
    query: `ALTER TABLE ${stagedTable(facts.gaps, epoch)} DELETE WHERE (day, toString(metric)) IN ${pairs}`,
    query_params: params,
    clickhouse_settings: { mutations_sync: "1" },
    abort_signal: signal,
  });
  return [...new Set(kept.map(({ day }) => day))].sort();
}

async function keptMetrics(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  { usage, gaps, together, productTypes }: MeasuredFacts,
  signal: AbortSignal,
): Promise<KeptMetric[]> {
  const measured = together ? "day" : "(day, toString(metric))";
  const ofTypes = productTypes === undefined ? "" : " AND product_type IN {product_types:Array(String)}";
  const result = await client.query({
    query: `
      WITH gaps AS (
        SELECT DISTINCT day, toString(metric) AS metric FROM ${stagedTable(gaps, epoch)}
        WHERE day IN {days:Array(Date)} AND (day, metric) NOT IN (SELECT day, metric FROM ${gaps} WHERE day IN {days:Array(Date)})
      )
      SELECT day, metric FROM gaps
      WHERE ${measured} IN (SELECT DISTINCT ${measured} FROM ${usage} WHERE day IN (SELECT day FROM gaps))
        AND day NOT IN (
          SELECT day FROM ${stagedTable("billing", epoch)}
          WHERE day IN (SELECT day FROM gaps)${ofTypes}
            AND (day, resource_id) NOT IN (SELECT day, resource_id FROM billing WHERE day IN (SELECT day FROM gaps))
        )
      ORDER BY day, metric`,
    query_params: { days: days.map(isoDay), product_types: productTypes ?? [] },
    format: "JSONEachRow",
    abort_signal: signal,
  });
  return await result.json<KeptMetric>();
}

/** What was measured for an identity, by the hour: the usage that its weight is the sum of. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../../store/clickhouse/statement.js";
import type { DimensionFields } from "../dimension-row.js";

export interface UsageSample {
  /** Start of the hour, `2026-01-01T05:00:00Z`. */
  readonly timestamp: string;
  readonly metric: string;
  /** Millionths of the metric's unit: a whole number as text. */
  readonly micro_units: string;
}

export function samplesOfDay(
  { resource_id, identity_id }: DimensionFields,
  day: string,
  metrics: readonly string[],
): Statement {
  return {
    query: `
SELECT toStartOfHour(usage.timestamp) AS timestamp, metric, toString(sum(micro_units)) AS micro_units
FROM usage
WHERE day = {day:Date} AND metric IN {metrics:Array(String)} AND resource_id = {resource_id:String} AND identity_id = {identity_id:String}
GROUP BY timestamp, metric
ORDER BY timestamp, metric`,
    params: { day, metrics, resource_id, identity_id },
  };
}

export async function readSamples(
  client: ClickHouseClient,
  dimension: DimensionFields,
  day: string,
  metrics: readonly string[],
  signal?: AbortSignal,
): Promise<UsageSample[]> {
  if (metrics.length === 0) return [];
  return await readRows<UsageSample>(client, samplesOfDay(dimension, day, metrics), signal);
}

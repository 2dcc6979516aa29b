/**
 * PromQL over the vendor's metrics as scraped by a Prometheus. They are exported once a minute, counters as the delta
 * of that minute, so `sum_over_time` over the step is the whole usage; a plain value each hour would be one minute in
 * sixty.
 */
import { BYTES_IN, BYTES_OUT, FLINK_CFU, FLINK_CFU_MINUTES } from "../rules.js";

export const CLUSTER = "kafka_id";
export const PRINCIPAL_LABEL = "principal_id";
export const POOL = "compute_pool_id";
export const STATEMENT_UID = "flink_statement_uid";
export const STATEMENT_NAME = "flink_statement_name";

const kafka = { resourceLabel: CLUSTER, by: [CLUSTER, PRINCIPAL_LABEL] } as const;
const flink = { resourceLabel: POOL, by: [POOL, STATEMENT_UID, STATEMENT_NAME] } as const;

const queries = {
  [BYTES_IN]: { series: "confluent_kafka_server_request_bytes", ...kafka },
  [BYTES_OUT]: { series: "confluent_kafka_server_response_bytes", ...kafka },
  [FLINK_CFU]: { series: "confluent_flink_num_cfu", ...flink },
  [FLINK_CFU_MINUTES]: { series: "confluent_flink_statement_utilization_cfu_minutes_consumed", ...flink },
} as const;

export type MeasuredMetric = keyof typeof queries;

export function isMeasured(metric: string): metric is MeasuredMetric {
  return Object.hasOwn(queries, metric);
}

export function resourceLabel(metric: MeasuredMetric): string {
  return queries[metric].resourceLabel;
}

/**
 * Returns the query for the usage of these resources in each step. The range is a millisecond less than the step:
 * before version 3, Prometheus includes both ends of a range, and the vendor's samples are on whole minutes, so that
 * the sample on the hour would count for both hours (measured on a day of minutes: 1.6 % too much).
 */
export function usageQuery(
  metric: MeasuredMetric,
  resources: readonly string[],
  stepSeconds: number,
): string {
  const { series, by, resourceLabel: label } = queries[metric];
  return `sum by (${by.join(", ")}) (sum_over_time(${series}{${label}=~"${anyOf(resources)}"}[${stepSeconds * 1000 - 1}ms]))`;
}

/** Returns a regular expression that matches any of these ids. */
export function anyOf(ids: readonly string[]): string {
  return ids.map(escaped).join("|");
}

/**
 * Escapes an id of the bill for a regular expression in a PromQL string, because it comes from outside and must match
 * only itself.
 */
function escaped(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\\\x{${code.toString(16)}}`;
  });
}

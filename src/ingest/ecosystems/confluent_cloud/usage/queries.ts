/**
 * PromQL over the vendor's metrics as a Prometheus has scraped them. They are exported once a minute, counters as the delta
 * of that minute, so `sum_over_time` over the step is all of it; a plain value each hour would be one minute in sixty.
 */
import { BYTES_IN, BYTES_OUT, FLINK_CFU, FLINK_CFU_MINUTES } from "../rules.js";

export const CLUSTER = "kafka_id";
export const PRINCIPAL = "principal_id";
export const POOL = "compute_pool_id";
export const STATEMENT_UID = "flink_statement_uid";
export const STATEMENT_NAME = "flink_statement_name";

const kafka = { resourceLabel: CLUSTER, by: [CLUSTER, PRINCIPAL] } as const;
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
 * What each series of these resources amounts to in a step. A millisecond less than the step: up to its version 2, Prometheus takes
 * both ends of a range, and the vendor's samples lie on whole minutes, so that the one on the hour would count for both hours
 * (measured on a day of minutes: 1.6 % too much).
 */
export function usageQuery(
  metric: MeasuredMetric,
  resources: readonly string[],
  stepSeconds: number,
): string {
  const { series, by, resourceLabel: label } = queries[metric];
  return `sum by (${by.join(", ")}) (sum_over_time(${series}{${label}=~"${anyOf(resources)}"}[${stepSeconds * 1000 - 1}ms]))`;
}

/** What a label has to match to be one of these ids. */
export function anyOf(ids: readonly string[]): string {
  return ids.map(escaped).join("|");
}

/** An id of the bill as a regular expression inside a PromQL string: it comes from outside, and must mean only itself. */
function escaped(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\\\x{${code.toString(16)}}`;
  });
}

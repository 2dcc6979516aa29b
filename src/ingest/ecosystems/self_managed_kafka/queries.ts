/**
 * The Prometheus queries: the quantities of the whole cluster, which are billed; the usage of each principal or topic,
 * which divides the bill; and the discovery of brokers, topics and principals.
 *
 * A range looks back over exactly one step, so no byte is counted twice or lost, whatever the step is. `increase`
 * handles counters that restart with a broker.
 */
import type { MeteredIdentitySource } from "../../metered/identity-source.js";
import { withSelector } from "../../metered/metric-selector.js";
import { presetOf, type TopicQuery } from "./presets.js";
import type { SelfManagedKafkaSettings } from "./settings.js";

const BYTES_IN = "kafka_server_brokertopicmetrics_bytesin_total";
const BYTES_OUT = "kafka_server_brokertopicmetrics_bytesout_total";
const LOG_SIZE = "kafka_log_log_size";

/** Placeholder for `discovery_window_hours` in the discovery query. */
const DISCOVERY_WINDOW = "$window";

export const BYTES_IN_PER_PRINCIPAL = "bytes_in_per_principal";
export const BYTES_OUT_PER_PRINCIPAL = "bytes_out_per_principal";

/** The label of topics in the results of queries of topics. */
export const TOPIC_LABEL = "topic";

const moved = (metric: string) => `increase(${metric}{$selector}[$step])`;

const defaults = {
  cluster_bytes_in: () => `sum(${moved(BYTES_IN)})`,
  cluster_bytes_out: () => `sum(${moved(BYTES_OUT)})`,
  cluster_storage_bytes: () => `sum(${LOG_SIZE}{$selector})`,
  [BYTES_IN_PER_PRINCIPAL]: ({ label }: MeteredIdentitySource) => `sum by (${label}) (${moved(BYTES_IN)})`,
  [BYTES_OUT_PER_PRINCIPAL]: ({ label }: MeteredIdentitySource) => `sum by (${label}) (${moved(BYTES_OUT)})`,
};

export type QueryName = keyof typeof defaults;

/** Returns a query of the bill or of the usage, configured or default, narrowed to this cluster's series. */
export function queryOf(settings: SelfManagedKafkaSettings, name: QueryName): string {
  const query = settings.queries[name] ?? defaults[name](settings.identity_source);
  return withSelector(query, settings.metric_selector);
}

/** Returns a query of topics, configured or of the preset. Undefined if the preset does not measure it. */
export function topicQueryOf(
  {
    queries,
    metrics_preset: preset,
    metric_selector: selector,
  }: Pick<SelfManagedKafkaSettings, "queries" | "metrics_preset" | "metric_selector">,
  name: TopicQuery,
): string | undefined {
  const query = queries[name] ?? presetOf(preset).queries[name];
  return query === undefined ? undefined : withSelector(query, selector);
}

/** Finds one series for each broker, topic and principal seen in the last hours, with their names as labels. */
export function discoveryQuery(settings: SelfManagedKafkaSettings): string {
  const { label, discovery_query: written } = settings.identity_source;
  const query =
    written ??
    (settings.usage_by === "topic"
      ? presetOf(settings.metrics_preset).discovery
      : `group by (broker, topic, ${label}) (max_over_time(${BYTES_IN}{$selector}[${DISCOVERY_WINDOW}]))`);
  const window = `${settings.discovery_window_hours}h`;
  return withSelector(query.replaceAll(DISCOVERY_WINDOW, window), settings.metric_selector);
}

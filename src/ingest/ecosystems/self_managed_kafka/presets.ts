/**
 * Presets of `metrics_preset`: the queries of topics in the metric names of an exporter. Each result has one series for
 * each topic, with the label `topic`.
 *
 * Brokers count the bytes of clients where the partition is led, so bytes count once for any number of replicas. Their
 * series without a topic are sums over all topics, which the queries leave out. Stored bytes are those of all replicas,
 * because all of them take up disks. Partitions count once.
 */
import { stringify } from "yaml";

/** Queries of topics. Each of them is also a metric of usage by the same name. */
export const topicQueries = [
  "bytes_in_per_topic",
  "bytes_out_per_topic",
  "storage_bytes_per_topic",
  "partitions_per_topic",
  "messages_in_per_topic",
] as const;
export type TopicQuery = (typeof topicQueries)[number];

interface Preset {
  /** Comments of the printed preset. */
  readonly remarks: readonly string[];
  /** An exporter that does not measure something has no query for it. */
  readonly queries: Partial<Readonly<Record<TopicQuery, string>>>;
  readonly discovery: string;
}

const named = (series: string, label: string, from: string) =>
  `label_replace(${series}, "${label}", "$1", "${from}", "(.+)")`;

/** The stock rules of the JMX exporter, which Strimzi uses as well. */
function jmxQueries(matchers: string): Preset["queries"] {
  const moved = (metric: string) =>
    `sum by (topic) (increase(kafka_server_brokertopicmetrics_${metric}_total{${matchers},$selector}[$step]))`;
  const logs = `kafka_log_log_size{${matchers},$selector}`;
  return {
    bytes_in_per_topic: moved("bytesin"),
    bytes_out_per_topic: moved("bytesout"),
    storage_bytes_per_topic: `sum by (topic) (${logs})`,
    partitions_per_topic: `count by (topic) (count by (topic, partition) (${logs}))`,
  };
}

/** Topics by their logs, because a topic has no counters of bytes before it is used. */
function jmxDiscovery(matchers: string, brokerLabel: string): string {
  const logs = `max_over_time(kafka_log_log_size{${matchers},$selector}[$window])`;
  return `group by (broker, topic) (${named(logs, "broker", brokerLabel)})`;
}

const redpandaTopics = (series: string) => named(series, "topic", "redpanda_topic");
const redpandaBytes = (request: string) => {
  const series = `redpanda_kafka_request_bytes_total{redpanda_request="${request}",redpanda_topic!="",$selector}`;
  return `sum by (topic) (${redpandaTopics(`increase(${series}[$step])`)})`;
};
const REDPANDA_SEEN = 'max_over_time(redpanda_kafka_partitions{redpanda_topic!="",$selector}[$window])';

export const presets = {
  jmx: {
    remarks: ["The metrics are those of the JMX exporter with its stock rules for Kafka."],
    queries: jmxQueries('topic!=""'),
    discovery: jmxDiscovery('topic!=""', "instance"),
  },
  strimzi: {
    remarks: [
      "The metrics are those of Strimzi with metricsConfig of type jmxPrometheusExporter, and its pod monitors.",
      'If there are several clusters, set metric_selector: strimzi_io_cluster="my-cluster".',
    ],
    queries: jmxQueries('topic!="",strimzi_io_cluster!=""'),
    discovery: jmxDiscovery('topic!="",strimzi_io_cluster!=""', "kubernetes_pod_name"),
  },
  redpanda: {
    remarks: [
      "The metrics are those of Redpanda's /public_metrics, and for stored bytes of its /metrics.",
      "Reads from followers are part of consume, so follower_consume is not added.",
    ],
    queries: {
      bytes_in_per_topic: redpandaBytes("produce"),
      bytes_out_per_topic: redpandaBytes("consume"),
      storage_bytes_per_topic: 'sum by (topic) (vectorized_storage_log_partition_size{topic!="",$selector})',
      partitions_per_topic: `max by (topic) (${redpandaTopics('redpanda_kafka_partitions{redpanda_topic!="",$selector}')})`,
    },
    discovery: `group by (broker, topic) (${named(redpandaTopics(REDPANDA_SEEN), "broker", "instance")})`,
  },
  kafka_exporter: {
    remarks: [
      "The metrics are those of danielqsj/kafka_exporter, which reads offsets and measures no bytes.",
      "The rates of storage and network must be 0. Allocation rules can use messages_in_per_topic.",
    ],
    queries: {
      partitions_per_topic: 'max by (topic) (kafka_topic_partitions{topic!="",$selector})',
      messages_in_per_topic:
        'sum by (topic) (max by (topic, partition) (increase(kafka_topic_partition_current_offset{topic!="",$selector}[$step])))',
    },
    discovery: `group by (topic) (max_over_time(kafka_topic_partitions{topic!="",$selector}[$window])) or ${named("group by (id) (max_over_time(kafka_broker_info{$selector}[$window]))", "broker", "id")}`,
  },
} satisfies Record<string, Preset>;

export type PresetName = keyof typeof presets;
export const presetNames = Object.keys(presets) as PresetName[];

/** The preset of tenants that name none. */
export const DEFAULT_PRESET: PresetName = "jmx";

export function presetOf(name: PresetName = DEFAULT_PRESET): Preset {
  return presets[name];
}

/**
 * Returns the settings that a preset stands for, as YAML for `plugin_settings`. They keep its name, because the default
 * preset would stand in for queries that it does not have.
 */
export function presetYaml(name: PresetName): string {
  const { remarks, queries, discovery } = presetOf(name);
  const settings = {
    usage_by: "topic",
    metrics_preset: name,
    queries,
    identity_source: { discovery_query: discovery },
  };
  const paste = "Paste this into plugin_settings of a tenant. A query here replaces that of the preset.";
  const comments = [paste, ...remarks].map((remark) => `# ${remark}\n`);
  return comments.join("") + stringify(settings, { lineWidth: 0, defaultStringType: "PLAIN" });
}

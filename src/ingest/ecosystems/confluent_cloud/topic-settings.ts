/**
 * Setting `topic_attribution` of Confluent Cloud: the section that all ecosystems with topics share, and the names of
 * the metrics.
 */
import type { Static } from "@sinclair/typebox";
import { section, text } from "../../../config/reader/setting.js";
import { topicAttributionSettings } from "../../../config/settings/topic-attribution.js";

const metricName = (what: string, name: string) =>
  text({
    description: `The metric of ${what}, with the labels \`kafka_id\` and \`topic\`.`,
    expected: "a name of a Prometheus metric",
    pattern: "^[a-zA-Z_:][a-zA-Z0-9_:]{0,199}$",
    default: name,
  });

export const topicSettings = topicAttributionSettings({
  metric_name_overrides: section(
    {
      topic_bytes_in: metricName("bytes written to topics", "confluent_kafka_server_received_bytes"),
      topic_bytes_out: metricName("bytes read from topics", "confluent_kafka_server_sent_bytes"),
      topic_retained_bytes: metricName("bytes that topics keep", "confluent_kafka_server_retained_bytes"),
    },
    { description: "Other names of the metrics of topics." },
  ),
});

export type TopicSettings = Static<typeof topicSettings>;

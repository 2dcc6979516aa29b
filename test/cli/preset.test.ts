/** Presets that `chargehouse rules --preset NAME` prints. */
import t from "tap";
import { parse } from "yaml";
import { rulesCommand } from "../../src/cli/rules.js";
import { presetNames } from "../../src/ingest/ecosystems/self_managed_kafka/presets.js";
import { commandIo } from "./command-io.js";

async function printed(name: string): Promise<string> {
  const { io, written } = commandIo();
  t.equal(await rulesCommand.run(["--preset", name], io), 0);
  return written.stdout;
}

t.test("a preset is printed as settings that can be pasted, without a configuration", async (t) => {
  t.equal(
    await printed("kafka_exporter"),
    `# Paste this into plugin_settings of a tenant. A query here replaces that of the preset.
# The metrics are those of danielqsj/kafka_exporter, which reads offsets and measures no bytes.
# The rates of storage and network must be 0. Allocation rules can use messages_in_per_topic.
usage_by: topic
metrics_preset: kafka_exporter
queries:
  partitions_per_topic: max by (topic) (kafka_topic_partitions{topic!="",$selector})
  messages_in_per_topic: sum by (topic) (max by (topic, partition) (increase(kafka_topic_partition_current_offset{topic!="",$selector}[$step])))
identity_source:
  discovery_query: group by (topic) (max_over_time(kafka_topic_partitions{topic!="",$selector}[$window])) or label_replace(group by (id) (max_over_time(kafka_broker_info{$selector}[$window])), "broker", "$1", "id", "(.+)")
`,
  );
});

t.test("each query of a preset of Kafka can be narrowed to one cluster", async (t) => {
  t.strictSame(presetNames, ["jmx", "strimzi", "redpanda", "kafka_exporter"]);
  for (const name of presetNames) {
    const { usage_by, queries, identity_source } = parse(await printed(name));
    t.equal(usage_by, "topic");
    for (const query of [...Object.values(queries), identity_source.discovery_query])
      t.ok(String(query).includes("$selector"), `${name}: ${query}`);
  }
});

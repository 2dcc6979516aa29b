/**
 * The presets of `self_managed_kafka` on a real Prometheus, over series in the form that each exporter writes, with
 * amounts calculated by hand.
 */
import t, { type Test } from "tap";
import { parse } from "yaml";
import { addDays } from "../../../src/common/days.js";
import { type PresetName, presetYaml } from "../../../src/ingest/ecosystems/self_managed_kafka/presets.js";
import { needs } from "../../programs.js";
import { daysAgo, forever } from "../generic_metrics_only/tenant.js";
import { PASSWORD, startRealPrometheus } from "../prometheus/real-prometheus.js";
import { recordingSink } from "../recording-sink.js";
import { exporters, exposition, GIB, MIB } from "./exporters.js";
import { connectKafka, kafkaBasics } from "./tenant.js";

const day = daysAgo(3);
const topic_owners = [{ pattern: "^(?<identity>[a-z]+)\\." }];

async function prometheusOf(t: Test, preset: PresetName): Promise<Readonly<Record<string, unknown>>> {
  const { families, selector } = exporters[preset];
  const { url } = await startRealPrometheus(t, exposition(day, families));
  return {
    metrics: { url, auth_type: "basic", username: "me", password: PASSWORD },
    ...(selector !== undefined && { metric_selector: selector }),
  };
}

async function gather(settings: Readonly<Record<string, unknown>>) {
  const gatherer = connectKafka({
    usage_by: "topic",
    topic_owners,
    discovery_window_hours: 24 * 5,
    ...settings,
  });
  const sink = recordingSink();
  const {
    control: _,
    billed: __,
    ...report
  } = await gatherer.gatherWindow({ start: day, end: addDays(day, 1) }, sink, forever);
  const { errors, notes } = await gatherer.gatherInventory(sink, forever);
  await gatherer.close();
  t.same([report, errors], [{ completeDays: [day], dropped: {}, errors: [] }, []]);
  t.same(notes, [
    '1 of 3 topics have no owner, such as "__consumer_offsets": their usage goes to UNALLOCATED',
  ]);
  const used = new Map<string, bigint>();
  for (const { metric, identity_id, micro_units } of sink.recorded.usage) {
    const key = `${metric} ${identity_id}`;
    used.set(key, (used.get(key) ?? 0n) + BigInt(micro_units));
  }
  const { billing, resources, identities } = sink.recorded;
  return {
    lines: billing.map(({ product_type, quantity, total_cost }) => [product_type, quantity, total_cost]),
    used: Object.fromEntries(used),
    resources: resources.map(({ resource_id, owner_id }) => [resource_id, owner_id]),
    identities: identities.map(({ identity_id, identity_type }) => [identity_id, identity_type]),
  };
}

const withPartitions = { ...kafkaBasics.cost_model, partition_hourly_rate: "0.01" };

/** 8,520 MiB are written and 5,760 read. `search.clicks` is stored at 12 of 24 samples. */
const lines = [
  ["SELF_KAFKA_COMPUTE", "72", "7.2"],
  ["SELF_KAFKA_STORAGE", "864", "0.0864"],
  ["SELF_KAFKA_NETWORK_INGRESS", "8.3203125", "0.083203125"],
  ["SELF_KAFKA_NETWORK_EGRESS", "5.625", "0.1125"],
  ["SELF_KAFKA_PARTITIONS", "84", "0.84"],
];
const units = (value: number) => BigInt(value) * 1_000_000n;
const used = {
  "bytes_in_per_topic payments": units(4320 * MIB),
  "bytes_in_per_topic search": units(2760 * MIB),
  "bytes_in_per_topic UNALLOCATED": units(1440 * MIB),
  "bytes_out_per_topic payments": units(5760 * MIB),
  "storage_bytes_per_topic payments": units(720 * GIB),
  "storage_bytes_per_topic search": units(96 * GIB),
  "storage_bytes_per_topic UNALLOCATED": units(48 * GIB),
  "partitions_per_topic payments": units(48),
  "partitions_per_topic search": units(12),
  "partitions_per_topic UNALLOCATED": units(24),
};

function resourcesOf(preset: PresetName) {
  return [
    ["orders", null],
    ...exporters[preset].brokers.map((broker) => [`orders:broker:${broker}`, null]),
    ["orders:topic:__consumer_offsets", null],
    ["orders:topic:payments.orders", "payments"],
    ["orders:topic:search.clicks", "search"],
  ];
}

const identities = [
  ["payments", "topic_owner"],
  ["search", "topic_owner"],
];

t.test("presets measure topics in their exporters' names", needs("prometheus", "promtool"), async (t) => {
  for (const preset of ["jmx", "strimzi", "redpanda"] as const)
    await t.test(`${preset}: sums of brokers, replicas and other clusters are not counted`, async (t) => {
      const settings = { ...(await prometheusOf(t, preset)), cost_model: withPartitions };
      for (const step of [3600, 900]) {
        const found = await gather({ ...settings, metrics_preset: preset, metrics_step_seconds: step });
        const steps = 3600 / step;
        // At a step of 15 minutes, the topic that appears at 12:30 has 47 of 96 samples of its size.
        if (step === 3600) t.same(found.lines, lines);
        else t.same(found.lines[1], ["SELF_KAFKA_STORAGE", "862", "0.0862"]);
        t.equal(found.used["bytes_in_per_topic search"], used["bytes_in_per_topic search"]);
        t.equal(
          found.used["storage_bytes_per_topic payments"],
          used["storage_bytes_per_topic payments"] * BigInt(steps),
        );
        if (step === 3600) t.same(found.used, used);
        t.same(found.resources, resourcesOf(preset));
        t.same(found.identities, identities);
      }
    });

  await t.test("kafka_exporter measures partitions and messages, and bills no bytes", async (t) => {
    const settings = await prometheusOf(t, "kafka_exporter");
    const free = { storage_per_gib_hourly: "0", network_ingress_per_gib: "0", network_egress_per_gib: "0" };
    const found = await gather({
      ...settings,
      cost_model: { ...withPartitions, ...free },
      metrics_preset: "kafka_exporter",
    });
    t.same(found.lines, [lines[0], lines[4]]);
    t.same(found.used, {
      "partitions_per_topic payments": units(48),
      "partitions_per_topic search": units(12),
      "partitions_per_topic UNALLOCATED": units(24),
      "messages_in_per_topic payments": units(150 * 1440),
      "messages_in_per_topic search": units(10 * 690),
      "messages_in_per_topic UNALLOCATED": units(5 * 1440),
    });
    t.same(found.resources, resourcesOf("kafka_exporter"));
    t.same(found.identities, identities);
  });

  await t.test("the printed settings of a preset measure what the preset measures", async (t) => {
    const free = { storage_per_gib_hourly: "0", network_ingress_per_gib: "0", network_egress_per_gib: "0" };
    for (const [preset, products] of [
      ["redpanda", 5],
      ["kafka_exporter", 2],
    ] as const) {
      const cost_model = { ...withPartitions, ...(preset === "kafka_exporter" && free) };
      const settings = { ...(await prometheusOf(t, preset)), cost_model };
      const found = await gather({ ...settings, ...parse(presetYaml(preset)) });
      t.same(found, await gather({ ...settings, metrics_preset: preset }));
      t.equal(found.lines.length, products);
    }
  });

  await t.test("hostile names of topics are charged and attributed as they are", async (t) => {
    const names = ["__proto__", 'quoted "\\$1', "two\nlines", "UNALLOCATED", "payments.orders"];
    const families = exporters.jmx.families.map((family) => ({
      ...family,
      series: names.map((topic, index) => {
        const labels = { partition: "0", topic, instance: "kafka-1:7071", cluster: "orders" };
        return [labels, (minute: number) => MIB * (index + 1) * (minute + 7)] as const;
      }),
    }));
    const { url } = await startRealPrometheus(t, exposition(day, families));
    const gatherer = connectKafka({
      metrics: { url, auth_type: "basic", username: "me", password: PASSWORD },
      usage_by: "topic",
      topic_owners: [
        { pattern: "^(?<identity>.*) " },
        ...topic_owners,
        { prefix: "two", identity: "both lines" },
      ],
      topic_attribution: { enabled: true, exclude_topic_patterns: ["payments.*"] },
    });
    const sink = recordingSink();
    const window = { start: day, end: addDays(day, 1) };
    await gatherer.gatherWindow(window, sink, forever);
    interface Fact {
      readonly name: string;
      readonly metric: string;
      readonly micro_units: string;
    }
    /** MiB a minute by name. */
    const sums = (facts: readonly Fact[], metric: string) => {
      const found = new Map<string, bigint>();
      for (const { name, micro_units } of facts.filter((fact) => fact.metric === metric))
        found.set(name, (found.get(name) ?? 0n) + BigInt(micro_units));
      return new Map([...found].map(([name, sum]) => [name, Number(sum / 1_000_000n) / (MIB * 1440)]));
    };
    const used = sink.recorded.usage.map(({ identity_id: name, ...fact }) => ({ name, ...fact }));
    t.same(
      sums(used, "bytes_in_per_topic"),
      new Map([
        ["UNALLOCATED", 1 + 4],
        ["quoted", 2],
        ["both lines", 3],
        ["payments", 5],
      ]),
    );
    const facts: Fact[] = [];
    const gaps: unknown[] = [];
    const report = await gatherer.gatherTopics?.(
      { window, clusters: ["orders"] },
      {
        usage: async (batch) =>
          void facts.push(...batch.map(({ topic_name: name, ...fact }) => ({ name, ...fact }))),
        usageGaps: async (batch) => void gaps.push(...batch),
      },
      forever,
    );
    await gatherer.close();
    t.same([report, gaps], [{ dropped: {}, errors: [] }, []]);
    const attributed = new Map([
      ["__proto__", 1],
      ['quoted "\\$1', 2],
      ["two\nlines", 3],
      ["UNALLOCATED", 4],
    ]);
    for (const metric of ["topic_bytes_in", "topic_bytes_out"])
      t.same(sums(facts, metric), attributed, metric);
  });
});

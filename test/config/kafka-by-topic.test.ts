/** Settings of `usage_by: topic` for `self_managed_kafka`: valid values and refusals. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/load.js";
import { formatProblem } from "../../src/config/reader/problem.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { presetNames, presetYaml } from "../../src/ingest/ecosystems/self_managed_kafka/presets.js";
import { temporaryFolder } from "../stores.js";

const folder = temporaryFolder(t);
writeFileSync(join(folder, "owners.csv"), "value,identity\norders,payments\n");
writeFileSync(join(folder, "twice.csv"), "value,identity\norders,payments\norders,search\n");

const rates = {
  compute_hourly_rate: 0.1,
  storage_per_gib_hourly: 0.0001,
  network_ingress_per_gib: 0.01,
  network_egress_per_gib: 0.02,
};
const noBytes = {
  ...rates,
  storage_per_gib_hourly: 0,
  network_ingress_per_gib: 0,
  network_egress_per_gib: "0.0",
};
const topic_owners = [{ prefix: "pay.", identity: "payments" }];
const byTopic = { usage_by: "topic", topic_owners };

function load(settings: Readonly<Record<string, unknown>>, allocation = {}) {
  const plugin_settings = {
    cluster_id: "orders",
    broker_count: 3,
    cost_model: rates,
    metrics: { url: "http://p" },
    ...settings,
  };
  const tenant = {
    ecosystem: "self_managed_kafka",
    tenant_id: "acme",
    storage: { connection_string: "embedded:acme" },
    plugin_settings,
    allocation,
  };
  return loadConfig(JSON.stringify({ tenants: { acme: tenant } }), {
    file: join(folder, "c.yaml"),
    env: {},
    ecosystems,
    folder,
  });
}

/** Returns the problems without file, line and the common path. */
function problems(...given: Parameters<typeof load>): string[] {
  const loaded = load(...given);
  const prefix = /^.*c\.yaml:\d+: tenants\.acme\.(plugin_settings\.)?/;
  return loaded.ok ? [] : loaded.problems.map((problem) => formatProblem(problem).replace(prefix, ""));
}

t.test("settings without topics are as they were: no new key has a default", async (t) => {
  const loaded = load({});
  if (!loaded.ok) return t.fail();
  const settings = loaded.config.tenants.get("acme")?.plugin_settings ?? {};
  for (const key of ["usage_by", "topic_owners", "metrics_preset", "topic_attribution"])
    t.notOk(Object.hasOwn(settings, key), key);
});

t.test("the map of owners is read with the configuration, relative to its file", async (t) => {
  const loaded = load({ usage_by: "topic", topic_owners: [{ map: "owners.csv" }] });
  if (!loaded.ok) return t.fail(loaded.problems.map(formatProblem).join("\n"));
  t.strictSame(
    [...(loaded.config.tenants.get("acme")?.identity_maps.get("owners.csv")?.entries ?? [])],
    [["orders", "payments"]],
  );
});

const accepted: [string, Record<string, unknown>][] = [
  ["principals by name", { usage_by: "principal" }],
  ["topics with owners", byTopic],
  [
    "a rate of partitions, also of a region",
    {
      ...byTopic,
      region: "eu",
      cost_model: {
        ...rates,
        partition_hourly_rate: 0.01,
        region_overrides: { eu: { partition_hourly_rate: 0.02 } },
      },
    },
  ],
  [
    "static identities that stand in",
    {
      ...byTopic,
      identity_source: { source: "both", static_identities: [{ identity_id: "platform" }] },
    },
  ],
  [
    "an exporter without bytes and without rates of bytes",
    { ...byTopic, metrics_preset: "kafka_exporter", cost_model: noBytes },
  ],
  [
    "an exporter without bytes, and a query of bytes in",
    {
      ...byTopic,
      metrics_preset: "kafka_exporter",
      cost_model: { ...noBytes, network_ingress_per_gib: 0.01 },
      queries: { bytes_in_per_topic: "sum by (topic) (increase(proxy_bytes[$step]))" },
    },
  ],
  [
    "a preset for the attribution to topics only",
    { metrics_preset: "redpanda", topic_attribution: { enabled: true } },
  ],
];
for (const [name, settings] of accepted)
  t.test(`accepted: ${name}`, async (t) => t.same(problems(settings), []));

const refused: [string, Record<string, unknown>, string[]][] = [
  [
    "topics without owners",
    { usage_by: "topic" },
    ["topic_owners: is required with usage_by: topic: else nobody could be charged"],
  ],
  [
    "an empty list of owners",
    { usage_by: "topic", topic_owners: [] },
    ["topic_owners: must be a list of 1 to 100 sources, not 0"],
  ],
  [
    "settings of topics without topics",
    {
      topic_owners,
      metrics_preset: "jmx",
      queries: { bytes_in_per_topic: "a", messages_in_per_topic: "a" },
      cost_model: { ...rates, partition_hourly_rate: 1 },
    },
    [
      "topic_owners: is not used without usage_by: topic: remove it",
      "metrics_preset: is not used without usage_by: topic or topic_attribution: remove it",
      "queries.bytes_in_per_topic: is not used without usage_by: topic or topic_attribution: remove it",
      "queries.messages_in_per_topic: is not used without usage_by: topic or topic_attribution: remove it",
      "cost_model.partition_hourly_rate: is not used without usage_by: topic: remove it",
    ],
  ],
  [
    "a word that is no label",
    { ...byTopic, usage_by: "topics" },
    [
      'usage_by: must be one of principal, topic, not "topics"',
      "topic_owners: is not used without usage_by: topic: remove it",
    ],
  ],
  [
    "a preset that does not exist",
    { ...byTopic, metrics_preset: "msk" },
    ['metrics_preset: must be one of jmx, strimzi, redpanda, kafka_exporter, not "msk"'],
  ],
  [
    "principals beside topics",
    {
      ...byTopic,
      identity_source: { label: "user" },
      queries: { bytes_out_per_principal: "a" },
    },
    [
      "identity_source.label: is not used with usage_by: topic: remove it",
      "queries.bytes_out_per_principal: is not used with usage_by: topic: remove it",
    ],
  ],
  [
    "static identities alone",
    { ...byTopic, identity_source: { source: "static", static_identities: [{ identity_id: "a" }] } },
    ["identity_source.source: must be prometheus or both with usage_by: topic, not static"],
  ],
  [
    "rates of bytes that the exporter does not measure",
    {
      ...byTopic,
      metrics_preset: "kafka_exporter",
      region: "eu",
      cost_model: {
        ...noBytes,
        network_ingress_per_gib: 0.01,
        region_overrides: { eu: { storage_per_gib_hourly: 1 } },
      },
      queries: { cluster_bytes_out: "a" },
    },
    [
      "cost_model.region_overrides.eu.storage_per_gib_hourly: must be 0: metrics_preset kafka_exporter has no storage_bytes_per_topic, and queries.storage_bytes_per_topic is not set",
      "cost_model.network_ingress_per_gib: must be 0: metrics_preset kafka_exporter has no bytes_in_per_topic, and queries.bytes_in_per_topic is not set",
      "queries.cluster_bytes_out: is not used: metrics_preset kafka_exporter has no bytes_out_per_topic, and queries.bytes_out_per_topic is not set",
    ],
  ],
  [
    "attribution to topics without bytes",
    {
      metrics_preset: "kafka_exporter",
      topic_attribution: { enabled: true },
      queries: { bytes_in_per_topic: "a", storage_bytes_per_topic: "a" },
    },
    [
      "topic_attribution.enabled: must be false: metrics_preset kafka_exporter has no bytes_out_per_topic, and queries.bytes_out_per_topic is not set",
    ],
  ],
  [
    "a query of topics that the selector would not narrow",
    {
      ...byTopic,
      metric_selector: 'cluster="orders"',
      queries: { partitions_per_topic: "max by (topic) (p)" },
    },
    [
      "queries.partitions_per_topic: has no $selector, so metric_selector would not narrow it: write metric{$selector}",
    ],
  ],
  [
    "sources of owners that are none",
    {
      usage_by: "topic",
      topic_owners: [
        {},
        { map: "owners.csv", prefix: "a", identity: "b" },
        { prefix: "a" },
        { pattern: "^(?<identity>a)", identity: "b" },
        { pattern: "^([a-z]+)\\." },
        { pattern: "(?=a)(?<identity>b)" },
        { prefix: "a", identity: "UNALLOCATED" },
        { prefix: "a", identity: "n/a" },
      ],
    },
    [
      "topic_owners[0]: needs map, pattern or prefix",
      "topic_owners[1].prefix: excludes map: give one of the two",
      "topic_owners[2].identity: is required with prefix",
      "topic_owners[3].identity: is only for prefix: a map or a pattern finds the identity",
      "topic_owners[4].pattern: needs a group named identity: (?<identity>…)",
      "topic_owners[5].pattern: is not a regular expression of RE2 (no lookaround, no backreferences): error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
      "topic_owners[6].identity: cannot be charged: it stands for nobody, or has spaces around it",
      "topic_owners[7].identity: cannot be charged: it stands for nobody, or has spaces around it",
    ],
  ],
  [
    "maps that cannot be read",
    { usage_by: "topic", topic_owners: [{ map: "none.csv" }, { map: "twice.csv" }] },
    [
      "topic_owners[0].map: does not exist",
      'topic_owners[1].map: line 3 has the value "orders" of line 2 again',
    ],
  ],
];
for (const [name, settings, expected] of refused)
  t.test(`refused: ${name}`, async (t) => t.same(new Set(problems(settings)), new Set(expected)));

t.test("the printed settings of each preset are accepted, also with a selector", async (t) => {
  for (const name of presetNames) {
    const printed = parse(presetYaml(name));
    const cost_model = name === "kafka_exporter" ? noBytes : rates;
    t.same(problems({ ...printed, topic_owners, cost_model, metric_selector: 'cluster="orders"' }), [], name);
  }
});

t.test("rules can name the metrics of topics that the exporter has", async (t) => {
  const rules = (metric: string) => ({ rules: [{ name: "compute", split: [{ by: "usage", metric }] }] });
  t.same(problems(byTopic, rules("bytes_in_per_topic")), []);
  t.same(problems(byTopic, rules("messages_in_per_topic")), [
    "allocation.rules[0].split[0].metric: is no metric of this tenant; known: bytes_in_per_topic, bytes_out_per_topic, partitions_per_topic, storage_bytes_per_topic",
  ]);
  const exporter = { ...byTopic, metrics_preset: "kafka_exporter", cost_model: noBytes };
  t.same(problems(exporter, rules("messages_in_per_topic")), []);
});

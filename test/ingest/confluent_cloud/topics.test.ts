/** Topics of a Confluent Cloud tenant: their weights, the excluded ones, and their records. */
import t, { type Test } from "tap";
import type { TopicUsageFact, UsageGap } from "../../../src/ingest/ecosystem.js";
import { withTopics } from "../../../src/ingest/ecosystems/confluent_cloud/inventory/topics.js";
import type { TopicSettings } from "../../../src/ingest/ecosystems/confluent_cloud/topic-settings.js";
import { gatherTopics, topicRules } from "../../../src/ingest/ecosystems/confluent_cloud/topics.js";
import { createPrometheusSource } from "../../../src/ingest/prometheus/source.js";
import { topicMatcher } from "../../../src/ingest/topic-patterns.js";
import { createUpstreamClient } from "../../../src/upstream/http/client.js";
import { holds } from "../../holds.js";
import { forever, silent } from "../generic_metrics_only/tenant.js";
import { type PrometheusScript, startScriptedPrometheus } from "../prometheus/scripted-prometheus.js";
import { recordingSink } from "../recording-sink.js";

const settings: TopicSettings = {
  enabled: true,
  exclude_topic_patterns: ["__consumer_offsets", "_confluent-*"],
  missing_metrics_behavior: "even_split",
  cost_mapping_overrides: {},
  metric_name_overrides: { topic_bytes_in: "got", topic_bytes_out: "sent", topic_retained_bytes: "kept" },
  retention_days: 90,
};
const window = { start: "2026-01-01", end: "2026-01-03" };

async function prometheus(t: Test, response: PrometheusScript) {
  const scripted = await startScriptedPrometheus(t, response);
  const client = createUpstreamClient({
    baseUrl: scripted.url,
    auth: { kind: "none" },
    logger: silent,
    pace: { concurrency: 8, minIntervalMs: 0 },
    retry: { attempts: 1, baseDelayMs: 5, maxDelayMs: 10 },
  });
  t.teardown(() => client.close());
  return { scripted, source: createPrometheusSource(client, silent) };
}

const topic = (kafka_id: string, name: string, value: number) => ({
  labels: { kafka_id, ...(name === "" ? {} : { topic: name }) },
  at: () => value,
});

t.test("topic rules are the defaults, changed by the configuration", async (t) => {
  const rules = (cost_mapping_overrides: TopicSettings["cost_mapping_overrides"]) =>
    Object.fromEntries(
      topicRules({ ...settings, cost_mapping_overrides }).map((rule) => [rule.product_type, rule.metrics]),
    );
  const both = ["topic_bytes_in", "topic_bytes_out"];
  t.same(rules({}), {
    KAFKA_NETWORK_WRITE: ["topic_bytes_in"],
    KAFKA_NETWORK_READ: ["topic_bytes_out"],
    KAFKA_NUM_CKU: both,
    KAFKA_NUM_CKUS: both,
    KAFKA_STORAGE: ["topic_retained_bytes"],
    KAFKA_PARTITION: [],
    KAFKA_BASE: [],
  });
  const changed = rules({
    KAFKA_NETWORK_WRITE: "bytes_ratio",
    KAFKA_BASE: "disabled",
    KAFKA_PARTITION: "retained_bytes_ratio",
    KAFKA_STORAGE: "even_split",
    KAFKA_STREAMS: "bytes_ratio",
  });
  holds(t, changed, {
    KAFKA_NETWORK_WRITE: ["topic_bytes_in"],
    KAFKA_PARTITION: ["topic_retained_bytes"],
    KAFKA_STORAGE: [],
    KAFKA_STREAMS: both,
  });
  t.notOk("KAFKA_BASE" in changed);
  t.same(
    rules(JSON.parse('{"constructor":"bytes_ratio"}')).constructor,
    both,
    "the name of a built-in property is not special",
  );
});

t.test("patterns of topic names match", async (t) => {
  for (const [pattern, name, matches] of [
    ["_confluent-*", "_confluent-ksql-x", true],
    ["_confluent-*", "my_confluent-ksql", false],
    ["_schemas", "_schemas", true],
    ["_schemas", "_Schemas", false],
    ["a.b", "axb", false],
    ["t?", "t1", true],
    ["t?", "t12", false],
    ["t[12]", "t2", true],
    ["t[!12]", "t2", false],
    ["t[z-a]", "t[z-a]", true],
    ["t[1", "t[1", true],
    ["*a**b*", `${"a".repeat(249)}c`, false],
    // Each star of these made matching take fifty times as long: with five, 81 seconds.
    ["*.*.*.*.*.tmp", ".".repeat(249), false],
    ["*[.-]".repeat(49), `${".".repeat(248)}x`, false],
    ["*a".repeat(124), "a".repeat(249), true],
  ] as const) {
    t.equal(topicMatcher([pattern])(name), matches, `${pattern} and ${name}`);
  }

  await t.test("a pattern matches as its characters say, in every combination", async (t) => {
    const fits = (pattern: string, name: string): boolean => {
      if (pattern === "") return name === "";
      if (pattern.startsWith("*"))
        return fits(pattern.slice(1), name) || (name !== "" && fits(pattern, name.slice(1)));
      const isOne = name !== "" && (pattern.startsWith("?") || pattern[0] === name[0]);
      return isOne && fits(pattern.slice(1), name.slice(1));
    };
    const names = textsOf("ab", 5);
    const wrong = textsOf("ab*?", 5).flatMap((pattern) => {
      const matches = topicMatcher([pattern]);
      return names.filter((name) => matches(name) !== fits(pattern, name)).map((name) => [pattern, name]);
    });
    t.strictSame(wrong, []);
  });
});

/** All texts of at most this many of the characters. */
function textsOf(characters: string, length: number): string[] {
  if (length === 0) return [""];
  const shorter = textsOf(characters, length - 1);
  const longest = shorter.filter((text) => text.length === length - 1);
  return [...shorter, ...longest.flatMap((text) => [...characters].map((each) => text + each))];
}

t.test("usage of topics is gathered", async (t) => {
  const gather = async (t: Test, response: PrometheusScript) => {
    const { scripted, source } = await prometheus(t, response);
    const facts: TopicUsageFact[] = [];
    const gaps: UsageGap[] = [];
    const sink = {
      usage: async (batch: readonly TopicUsageFact[]) => void facts.push(...batch),
      usageGaps: async (batch: readonly UsageGap[]) => void gaps.push(...batch),
    };
    const gathering = { settings, source, parallelQueries: 4 };
    const report = await gatherTopics(gathering, { window, clusters: ["lkc-1", "lkc-2"] }, sink, forever);
    return { scripted, facts, gaps, report };
  };

  await t.test("usage of topics comes in facts of a day, including idle topics", async (t) => {
    const { scripted, facts, gaps, report } = await gather(t, (query) => {
      if (query.includes("sent")) return [];
      if (query.includes("kept")) return [topic("lkc-1", "idle", 0), topic("lkc-2", "orders", 1024)];
      const series = [topic("lkc-1", "orders", 2.5), topic("lkc-9", "elsewhere", 7)];
      return [...series, topic("lkc-1", "_confluent-command", 9), topic("lkc-1", "", 3)];
    });
    t.same(scripted.queries.toSorted(), [
      'sum by (kafka_id, topic) (sum_over_time(got{kafka_id=~"lkc-1|lkc-2"}[86399999ms]))',
      'sum by (kafka_id, topic) (sum_over_time(kept{kafka_id=~"lkc-1|lkc-2"}[86399999ms]))',
      'sum by (kafka_id, topic) (sum_over_time(sent{kafka_id=~"lkc-1|lkc-2"}[86399999ms]))',
    ]);
    const counts: Record<string, number> = {};
    for (const { metric, resource_id, topic_name, micro_units } of facts) {
      const key = `${metric} ${resource_id} ${topic_name} ${micro_units}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    t.same(counts, {
      "topic_bytes_in lkc-1 orders 2500000": 2,
      "topic_retained_bytes lkc-1 idle 0": 2,
      "topic_retained_bytes lkc-2 orders 1024000000": 2,
    });
    holds(
      t,
      facts.find((fact) => fact.topic_name === "orders"),
      { timestamp: "2026-01-01T00:00:00Z" },
    );
    t.same(gaps, []);
    holds(t, report, { dropped: { without_identity: 2 }, errors: [] });
  });

  await t.test(
    "usage of topics has a gap for each metric that cannot be fetched, by cluster and day",
    async (t) => {
      const { facts, gaps } = await gather(t, (query) =>
        query.includes("got") ? 400 : [topic("lkc-1", "a", 1)],
      );
      t.same(gaps.map((gap) => `${gap.metric} ${gap.resource_id} ${gap.day}`).sort(), [
        "topic_bytes_in lkc-1 2026-01-01",
        "topic_bytes_in lkc-1 2026-01-02",
        "topic_bytes_in lkc-2 2026-01-01",
        "topic_bytes_in lkc-2 2026-01-02",
      ]);
      t.equal(facts.length, 4);
    },
  );
});

t.test("topics become resources", async (t) => {
  const rest = { completeResourceTypes: ["kafka_cluster"], completeIdentityTypes: [], errors: [] };
  const gather = async (t: Test, response: PrometheusScript, clusters = ["lkc-1"]) => {
    const { scripted, source } = await prometheus(t, response);
    const sink = recordingSink();
    const report = await withTopics(
      { settings, source },
      async (into) => {
        await into.resources(
          clusters.map((resource_id) => ({
            resource_id,
            resource_type: "kafka_cluster",
            display_name: null,
            parent_id: null,
            owner_id: null,
            created_at: null,
            metadata: {},
          })),
        );
        return rest;
      },
      sink,
      forever,
    );
    const topics = sink.recorded.resources.filter((resource) => resource.resource_type === "topic");
    return { scripted, report, topics };
  };

  await t.test(
    "topics with retained bytes are found, and are deleted only after a week of absence",
    async (t) => {
      const { scripted, report, topics } = await gather(t, () => [
        topic("lkc-1", "orders", 0),
        topic("lkc-1", "__consumer_offsets", 5),
        topic("lkc-1", "", 5),
      ]);
      holds(t, topics, [{ resource_id: "lkc-1:topic:orders", display_name: "orders", parent_id: "lkc-1" }]);
      t.equal(topics.length, 1);
      holds(t, report, {
        completeResourceTypes: ["kafka_cluster", "topic"],
        absenceGraceSeconds: { topic: 691_200 },
      });
      t.same(scripted.queries, [
        'group by (kafka_id, topic) (last_over_time(kept{kafka_id=~"lkc-1"}[3600s]))',
      ]);
    },
  );

  await t.test("topics that cannot be discovered are a warning, and none are deleted", async (t) => {
    const { report } = await gather(t, () => 400);
    holds(t, report, { ...rest, warnings: [/^topics could not be discovered: /] });
    t.same(report.completeResourceTypes, ["kafka_cluster"]);
  });

  await t.test("topics are not queried if there is no cluster", async (t) => {
    const { scripted, report } = await gather(t, () => [], []);
    t.same(report, rest);
    t.same(scripted.queries, []);
  });
});

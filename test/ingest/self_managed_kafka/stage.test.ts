/**
 * The ecosystem `self_managed_kafka` against a Prometheus whose samples are scripted: bill, usage, inventory, outages,
 * rules.
 */
import pino from "pino";
import t, { type Test } from "tap";
import { addMonths, DAY_SECONDS, daysOfWindow, midnightSeconds } from "../../../src/common/days.js";
import { ecosystems } from "../../../src/ingest/ecosystems/registry.js";
import { selfManagedKafka } from "../../../src/ingest/ecosystems/self_managed_kafka/index.js";
import { holds } from "../../holds.js";
import { forever, withoutControl } from "../generic_metrics_only/tenant.js";
import {
  type PrometheusScript,
  type ScriptedSeries,
  startScriptedPrometheus,
} from "../prometheus/scripted-prometheus.js";
import { recordingSink } from "../recording-sink.js";
import { connectKafka, kafkaBasics, kafkaSettings } from "./tenant.js";

const GIB = 2 ** 30;
const HOUR = 3600;
const [first, second] = ["2026-03-04", "2026-03-05"];
const window = { start: first, end: "2026-03-06" };

const bytesIn = /bytesin_total/;
const perPrincipal = /sum by \(principal\)/;

/** The range that a query looks back over, in seconds. */
const rangeOf = (query: string) => Number(/\[(\d+)s\]/.exec(query)?.[1] ?? 0);

/** 20 GiB in and 40 GiB out a day, evenly; 50 GiB stored on the mean; alice and bob write, bob alone reads. */
const usual: PrometheusScript = (query) => {
  if (/group by/.test(query)) return discovered;
  const share = rangeOf(query) / DAY_SECONDS;
  const constant = (value: number, labels = {}): ScriptedSeries => ({ labels, at: () => value });
  if (/log_size/.test(query)) return [{ at: (point) => (point % (2 * HOUR) === 0 ? 40 * GIB : 60 * GIB) }];
  if (perPrincipal.test(query) && bytesIn.test(query)) {
    return [
      constant(15 * GIB * share, { principal: "User:alice" }),
      constant(3 * GIB * share, { principal: "User:bob" }),
    ];
  }
  if (perPrincipal.test(query)) {
    return [constant(0, { principal: "User:alice" }), constant(36 * GIB * share, { principal: "User:bob" })];
  }
  return [constant((bytesIn.test(query) ? 20 : 40) * GIB * share)];
};

const discovered: ScriptedSeries[] = [
  { labels: { broker: "1", topic: "orders", principal: "User:alice" }, at: () => 1 },
  { labels: { broker: "2", topic: "orders", principal: "User:bob" }, at: () => 1 },
  { labels: { broker: "2", topic: "" }, at: () => 1 },
];

async function kafka(
  t: Test,
  script: PrometheusScript = usual,
  settings: Readonly<Record<string, unknown>> = {},
) {
  const prometheus = await startScriptedPrometheus(t, script);
  const lines: { level: number; msg: string }[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const connect = () => connectKafka({ metrics: { url: prometheus.url }, ...settings }, logger);
  const gather = async () => {
    const sink = recordingSink();
    const gatherer = connect();
    const report = await gatherer.gatherWindow(window, sink, forever);
    await gatherer.close();
    return { report, recorded: sink.recorded };
  };
  const inventory = async () => {
    const sink = recordingSink();
    const gatherer = connect();
    const report = await gatherer.gatherInventory(sink, forever);
    await gatherer.close();
    return { report, recorded: sink.recorded };
  };
  return { prometheus, gather, inventory, lines };
}

/** Received queries, without the counts of replicated series. */
const ownQueries = ({ queries }: { readonly queries: readonly string[] }) =>
  new Set(queries.filter((query) => !query.includes("count without")));

t.test("three brokers, 50 GiB stored, 20 GiB in and 40 GiB out cost 8.32 a day", async (t) => {
  const { gather, prometheus } = await kafka(t);
  const { report, recorded } = await gather();
  t.same(withoutControl(report), { completeDays: [first, second], dropped: {}, errors: [] });
  const costs = recorded.billing.map((line) => [
    line.timestamp,
    line.product_type,
    line.quantity,
    line.unit_price,
    line.total_cost,
  ]);
  const day = (timestamp: string) => [
    [timestamp, "SELF_KAFKA_COMPUTE", "72", "0.1", "7.2"],
    [timestamp, "SELF_KAFKA_STORAGE", "1200", "0.0001", "0.12"],
    [timestamp, "SELF_KAFKA_NETWORK_INGRESS", "20", "0.01", "0.2"],
    [timestamp, "SELF_KAFKA_NETWORK_EGRESS", "40", "0.02", "0.8"],
  ];
  t.same(costs, [...day(`${first}T00:00:00Z`), ...day(`${second}T00:00:00Z`)]);
  holds(t, recorded.billing[1], {
    env_id: "",
    resource_id: "orders",
    product_category: "kafka",
    currency: "USD",
    granularity: "daily",
    metadata: { samples: 24, expected_samples: 24 },
  });
  t.same(ownQueries(prometheus), new Set(DEFAULT_QUERIES), "the queries are exactly the defaults");

  const used = new Map<string, bigint>();
  for (const { metric, identity_id, micro_units } of recorded.usage) {
    const key = `${metric} ${identity_id}`;
    used.set(key, (used.get(key) ?? 0n) + BigInt(micro_units));
  }
  const bytes = (gib: number) => BigInt(gib) * BigInt(GIB) * 1_000_000n * 2n;
  t.same(Object.fromEntries(used), {
    "bytes_in_per_principal User:alice": bytes(15),
    "bytes_in_per_principal User:bob": bytes(3),
    "bytes_out_per_principal User:alice": 0n,
    "bytes_out_per_principal User:bob": bytes(36),
  });
});

const DEFAULT_QUERIES = [
  "sum(increase(kafka_server_brokertopicmetrics_bytesin_total[3600s]))",
  "sum(increase(kafka_server_brokertopicmetrics_bytesout_total[3600s]))",
  "sum(kafka_log_log_size)",
  "sum by (principal) (increase(kafka_server_brokertopicmetrics_bytesin_total[3600s]))",
  "sum by (principal) (increase(kafka_server_brokertopicmetrics_bytesout_total[3600s]))",
];

t.test("another step covers the same time, and costs the same", async (t) => {
  for (const [step, samples] of [
    [900, 96],
    [7200, 12],
  ] as const) {
    const { gather, prometheus } = await kafka(t, usual, { metrics_step_seconds: step });
    const { recorded } = await gather();
    const cost = recorded.billing.slice(0, 4).map((line) => line.total_cost);
    // Every second hour's storage is that of the even hours.
    t.same(cost.slice(2), ["0.2", "0.8"], `step ${step}`);
    holds(t, recorded.billing[1]?.metadata, { samples, expected_samples: samples });
    t.ok(prometheus.queries.every((query) => !query.includes("[") || query.includes(`[${step}s]`)));
  }
});

t.test("the sample of midnight belongs to the day that ends there", async (t) => {
  const script: PrometheusScript = (query) =>
    bytesIn.test(query) && !perPrincipal.test(query)
      ? [
          {
            at: (point) =>
              point === midnightSeconds(second) ? GIB : point <= midnightSeconds(first) ? 9e15 : 0,
          },
        ]
      : usual(query);
  const { recorded } = await (await kafka(t, script)).gather();
  const ingress = recorded.billing.filter((line) => line.product_type === "SELF_KAFKA_NETWORK_INGRESS");
  t.same(
    ingress.map((line) => line.quantity),
    ["1", "0"],
  );
});

t.test("several series are added up at each point before the mean is taken", async (t) => {
  const query = "kafka_log_log_size{$selector}";
  const script: PrometheusScript = (requested) =>
    requested === 'kafka_log_log_size{cluster="orders"}'
      ? [
          { labels: { broker: "1" }, at: () => 30 * GIB },
          { labels: { broker: "2" }, at: () => 20 * GIB },
        ]
      : usual(requested);
  const settings = { queries: { cluster_storage_bytes: query }, metric_selector: 'cluster="orders"' };
  const { recorded } = await (await kafka(t, script, settings)).gather();
  holds(t, recorded.billing[1], { product_type: "SELF_KAFKA_STORAGE", quantity: "1200", total_cost: "0.12" });
});

t.test("the metric selector narrows every query, including configured ones", async (t) => {
  const { gather, inventory, prometheus } = await kafka(t, usual, {
    metric_selector: 'cluster="orders",topic!=""',
    discovery_window_hours: 6,
    identity_source: { label: "user" },
    queries: { cluster_bytes_in: "sum(increase(broker_in{job='x',$selector}[$step]))" },
  });
  await gather();
  await inventory();
  t.same(
    ownQueries(prometheus),
    new Set([
      `sum(increase(broker_in{job='x',cluster="orders",topic!=""}[3600s]))`,
      'sum(increase(kafka_server_brokertopicmetrics_bytesout_total{cluster="orders",topic!=""}[3600s]))',
      'sum(kafka_log_log_size{cluster="orders",topic!=""})',
      'sum by (user) (increase(kafka_server_brokertopicmetrics_bytesin_total{cluster="orders",topic!=""}[3600s]))',
      'sum by (user) (increase(kafka_server_brokertopicmetrics_bytesout_total{cluster="orders",topic!=""}[3600s]))',
      'group by (broker, topic, user) (max_over_time(kafka_server_brokertopicmetrics_bytesin_total{cluster="orders",topic!=""}[6h]))',
    ]),
  );
});

t.test("compute is billed during an outage, and the day is provisional because of the rest", async (t) => {
  for (const [name, script, lacking] of [
    ["a Prometheus that refuses", () => 401, NETWORK_AND_STORAGE],
    ["one without any samples", () => [], NETWORK_AND_STORAGE],
    ["no samples of storage", (query: string) => (/log_size/.test(query) ? [] : usual(query)), [STORAGE]],
    ["a wrong query", (query: string) => (/log_size/.test(query) ? 400 : usual(query)), [STORAGE]],
  ] as const satisfies [string, PrometheusScript, string[]][]) {
    const { gather } = await kafka(t, script);
    const { report, recorded } = await gather();
    t.same([report.completeDays, report.partialDays], [[], [first, second]], name);
    t.same(report.errors, [], `${name}: missing data of a partial day is a gap`);
    const compute = recorded.billing.filter((line) => line.product_type === "SELF_KAFKA_COMPUTE");
    t.same(
      compute.map((line) => [line.total_cost, line.metadata.unmeasured]),
      [
        ["7.2", lacking],
        ["7.2", lacking],
      ],
      name,
    );
    t.equal(recorded.billing.length, 2 * (4 - lacking.length), `${name}: missing data is not billed as free`);
    const gaps = new Set(recorded.usageGaps.map(({ metric }) => metric));
    for (const product of lacking) t.ok(gaps.has(product), `${name}: the day is provisional for ${product}`);
  }
});

const STORAGE = "SELF_KAFKA_STORAGE";
const NETWORK_AND_STORAGE = [STORAGE, "SELF_KAFKA_NETWORK_INGRESS", "SELF_KAFKA_NETWORK_EGRESS"];

t.test("a Prometheus that is down is queried once in a run, not for every window", async (t) => {
  const prometheus = await startScriptedPrometheus(t, () => 401);
  const gatherer = connectKafka({ metrics: { url: prometheus.url } });
  holds(t, (await gatherer.gatherInventory(recordingSink(), forever)).errors, [
    /discovery in metrics failed/,
  ]);
  for (let window = 0; window < 3; window += 1) {
    const from = addMonths("2026-01-01", window);
    const to = addMonths("2026-01-01", window + 1);
    const sink = recordingSink();
    const report = await gatherer.gatherWindow({ start: from, end: to }, sink, forever);
    t.same(report.partialDays, daysOfWindow({ start: from, end: to }));
    t.equal(sink.recorded.billing.length, report.partialDays?.length);
  }
  t.equal(prometheus.queries.length, 1);
  await gatherer.close();
});

t.test("an abort ends a gathering with its reason, and bills nothing", async (t) => {
  const { prometheus } = await kafka(t);
  const giveUp = new AbortController();
  prometheus.script = () => {
    giveUp.abort(new Error("Execution timed out after 1 seconds"));
    return 503;
  };
  const sink = recordingSink();
  const gatherer = connectKafka({ metrics: { url: prometheus.url } });
  await t.rejects(gatherer.gatherWindow(window, sink, giveUp.signal), /Execution timed out/);
  t.same(sink.recorded.billing, []);
});

t.test(
  "the inventory from metrics has cluster, brokers, topics and principals with their teams",
  async (t) => {
    const { inventory, lines } = await kafka(t, usual, {
      region: "eu-west-1",
      identity_source: { principal_to_team: { "User:alice": "payments" } },
    });
    const { report, recorded } = await inventory();
    holds(t, report, {
      completeResourceTypes: ["cluster", "broker", "topic"],
      completeIdentityTypes: ["principal"],
      errors: [],
      requiredForDays: false,
    });
    for (const type of ["broker", "topic", "principal"]) {
      t.ok(
        (report.absenceGraceSeconds?.[type] ?? 0) > DAY_SECONDS,
        `${type} may have no samples for a while`,
      );
    }
    t.same(
      recorded.resources.map((r) => [
        r.resource_id,
        r.resource_type,
        r.display_name,
        r.parent_id,
        r.metadata,
      ]),
      [
        ["orders", "cluster", "orders", null, { broker_count: 3, region: "eu-west-1" }],
        ["orders:broker:1", "broker", "1", "orders", { cluster_id: "orders" }],
        ["orders:broker:2", "broker", "2", "orders", { cluster_id: "orders" }],
        ["orders:topic:orders", "topic", "orders", "orders", { cluster_id: "orders" }],
      ],
    );
    const principal = { identity_type: "principal", created_at: null };
    holds(t, recorded.identities, [
      {
        ...principal,
        identity_id: "User:alice",
        display_name: "payments",
        metadata: { raw_principal: "User:alice", team: "payments" },
      },
      {
        ...principal,
        identity_id: "User:bob",
        display_name: "User:bob",
        metadata: { raw_principal: "User:bob", team: "UNASSIGNED" },
      },
    ]);
    t.same(lines, []);
  },
);

t.test("principals that appear later are found in the next gathering, without a restart", async (t) => {
  const plain = [{ labels: { broker: "1", topic: "orders" }, at: () => 1 }];
  const { inventory, prometheus, lines } = await kafka(t, () => plain);
  t.same((await inventory()).recorded.identities, []);
  holds(t, lines, [{ level: 40, msg: /no series of the discovery query has the label/ }]);
  prometheus.script = () => 401;
  const away = await inventory();
  holds(t, away.report, { completeResourceTypes: ["cluster"], completeIdentityTypes: [] });
  holds(
    t,
    away.recorded.resources,
    [{ resource_id: "orders" }],
    "the cluster is known although it has no samples",
  );
  prometheus.script = usual;
  t.equal((await inventory()).recorded.identities.length, 2);
});

const named = { static_identities: [{ identity_id: "etl", identity_type: "team", team: "data" }] };

t.test("with static identities alone, brokers and topics are queried, but no principals", async (t) => {
  const { gather, inventory, prometheus } = await kafka(t, usual, {
    identity_source: { source: "static", ...named },
  });
  const { recorded } = await gather();
  t.same(recorded.usage, []);
  t.same(
    recorded.identitySets.map(({ day, scope, identity_id }) => [day, scope, identity_id]),
    [first, second].map((day) => [day, "resource_active", "etl"]),
  );
  const found = await inventory();
  t.same(found.report.completeIdentityTypes, ["team"]);
  holds(t, found.recorded.identities, [
    { identity_id: "etl", display_name: "etl", identity_type: "team", metadata: { team: "data" } },
  ]);
  t.equal(found.recorded.identities.length, 1);
  t.equal(found.recorded.resources.length, 4);
  t.notOk(prometheus.queries.some((query) => query.startsWith("sum by")));
});

t.test("with both sources, there are named and discovered identities, and none of them twice", async (t) => {
  const both = {
    source: "both",
    static_identities: [{ identity_id: "User:bob", display_name: "Bob" }, ...named.static_identities],
  };
  const { gather, inventory } = await kafka(t, usual, { identity_source: both });
  const { recorded } = await inventory();
  t.same(
    recorded.identities.map(({ identity_id, display_name }) => [identity_id, display_name]),
    [
      ["User:bob", "Bob"],
      ["etl", "etl"],
      ["User:alice", "User:alice"],
    ],
  );
  const gathered = await gather();
  t.equal(gathered.recorded.identitySets.length, 4);
  t.equal(gathered.recorded.usage.length, 2 * 24 * 4);
});

t.test("the rules depend on the source of identities", async (t) => {
  t.equal(ecosystems.get("self_managed_kafka"), selfManagedKafka);
  const metrics = { url: "http://127.0.0.1:9" };
  const rulesOf = (identity_source: Readonly<Record<string, unknown>>) => {
    const settings = kafkaSettings({ ...kafkaBasics, metrics, identity_source });
    const chains = selfManagedKafka.rules(settings).map(({ product_type, components }) => {
      t.equal(components.length, 1);
      const tiers = components[0]?.tiers ?? [];
      t.same(tiers.at(-1), { kind: "terminal", detail: "no_identities_located" });
      return [
        product_type,
        tiers.slice(0, -1).map((tier) => {
          if (tier.kind === "usage") return `${tier.metrics} ${tier.detail}`;
          return tier.kind === "even" ? `${tier.scopes.join("+")} ${tier.detail}` : tier.kind;
        }),
      ];
    });
    return { chains: Object.fromEntries(chains), deriving: selfManagedKafka.derivingMetrics(settings) };
  };
  const infrastructure = [
    "metrics_derived even_split_allocation",
    "resource_active no_active_identities_located",
  ];
  const network = (metric: string) => [
    `${metric} usage_ratio_allocation`,
    "resource_active+metrics_derived no_metrics_located",
  ];
  for (const source of ["prometheus", "both"]) {
    t.same(
      rulesOf({ source }),
      {
        chains: {
          SELF_KAFKA_COMPUTE: infrastructure,
          SELF_KAFKA_STORAGE: infrastructure,
          SELF_KAFKA_NETWORK_INGRESS: network("bytes_in_per_principal"),
          SELF_KAFKA_NETWORK_EGRESS: network("bytes_out_per_principal"),
        },
        deriving: ["bytes_in_per_principal", "bytes_out_per_principal"],
      },
      source,
    );
  }
  const evenly = ["resource_active even_split_allocation"];
  t.same(rulesOf({ source: "static", ...named }), {
    chains: {
      SELF_KAFKA_COMPUTE: evenly,
      SELF_KAFKA_STORAGE: evenly,
      SELF_KAFKA_NETWORK_INGRESS: evenly,
      SELF_KAFKA_NETWORK_EGRESS: evenly,
    },
    deriving: [],
  });
});

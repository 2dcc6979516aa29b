/**
 * Series that a Prometheus has once for each of its replicas: which expressions add them up, and where that is
 * reported.
 */
import t, { type Test } from "tap";
import { midnightSeconds } from "../../../src/common/days.js";
import type { WindowSink } from "../../../src/ingest/ecosystem.js";
import { connectQueries } from "../../../src/ingest/ecosystems/focus/usage/queries.js";
import { selectorsCountingReplicas } from "../../../src/ingest/prometheus/replicas.js";
import { needs } from "../../programs.js";
import { startBill, testCostRow } from "../confluent_cloud/bill.js";
import { connectConfluentTenant } from "../confluent_cloud/tenant.js";
import { connectGeneric, daysAgo, forever, silent } from "../generic_metrics_only/tenant.js";
import { recordingSink } from "../recording-sink.js";
import { connectKafka } from "../self_managed_kafka/tenant.js";
import { PASSWORD, startRealPrometheus } from "./real-prometheus.js";

const named = (expression: string, labels?: readonly string[]) =>
  selectorsCountingReplicas(expression, labels).map(({ selector, label }) => `${selector} by ${label}`);

t.test("an expression adds replicas up unless something between merges or names them", async (t) => {
  const r = ["r"];
  const counts = (expression: string, ...selectors: string[]) =>
    t.strictSame(
      named(expression, r),
      selectors.map((selector) => `${selector} by r`),
      expression,
    );
  counts("x", "x");
  counts('rate(x{a="b"}[5m] offset 1h)', 'x{a="b"}');
  counts("sum(rate(x[1h]))", "x");
  counts("sum by (user) (increase(x[3600s:60s]))", "x");
  counts("count(x)", "x");
  counts("topk(3, x)", "x");
  counts("sum(topk(3, x))", "x");
  counts("max without (pod) (x)", "x");
  counts("sum(max without (pod) (x))", "x");
  counts("-(x) * on (a) group_left y", "x", "y");
  counts("sum(x) + sum(x)", "x");
  counts("sum(x and y)", "x");
  counts("sum(x unless (y))", "x");
  counts("sum(x or y)", "x", "y");

  counts("max(x)");
  counts("max by (user) (rate(x[1h]))");
  counts("sum(max without (r) (rate(x[1h])))");
  counts("max without (r) (sum without (pod) (x))");
  counts("max(topk(3, x))");
  counts("avg by (user) (x)");
  counts("group by (user) (x)");
  counts("quantile(0.9, x)");
  counts('sum(x{r="0"})');
  counts('sum({"my.metric", "r"=~".+"})');
  counts("sum by (r, user) (x)");
  counts("sum by (user) (x");
  t.strictSame(named("sum(x)"), ["x by prometheus_replica", "x by replica", "x by __replica__"]);
});

const window = { start: daysAgo(3), end: daysAgo(1) };
const GIB = 2 ** 30;

/** A gauge with a sample on each hour of the window. */
const hourly = (series: string, value: number) =>
  Array.from(
    { length: 48 },
    (_, index) => `${series} ${value} ${midnightSeconds(window.start) + (index + 1) * 3600}`,
  );

/** Two replicas that have scraped the same. `labels` are those of each series. */
const both = (metric: string, labels: readonly string[], replica: string, value: number) => [
  `# TYPE ${metric} gauge`,
  ...["a", "b"].flatMap((name) =>
    labels.flatMap((own) => hourly(`${metric}{${own},${replica}="${name}"}`, value)),
  ),
];

async function start(t: Test) {
  const users = ['user="ann"', 'user="bob"'];
  const openMetrics = [
    ...both("sent_bytes", users, "prometheus_replica", GIB),
    ...both(
      "confluent_kafka_server_request_bytes",
      ['kafka_id="lkc-aa11",principal_id="sa-1"'],
      "prometheus_replica",
      GIB,
    ),
    ...both("kafka_log_log_size", ['topic="t"'], "replica", GIB),
    "# TYPE once_bytes gauge",
    ...users.flatMap((user) => hourly(`once_bytes{${user},prometheus_replica="a"}`, GIB)),
    "# EOF",
    "",
  ];
  const { url } = await startRealPrometheus(t, openMetrics.join("\n"));
  return { type: "prometheus", url, auth_type: "basic", username: "me", password: PASSWORD };
}

const remark = (label: string) =>
  `each series is there up to 2 times, by the label ${label}, and counts as often: use \`max without (${label})\``;

t.test("two replicas behind one Prometheus are reported", needs("prometheus", "promtool"), async (t) => {
  const metrics = await start(t);
  const byUser = (inner: string) => `sum by (user) (${inner})`;
  const cost = (name: string, query: string, allocation_query: string) => ({
    name,
    product_category: "n",
    rate: "1",
    cost_quantity: { type: "network_gib", query },
    allocation_strategy: "usage_ratio",
    allocation_label: "user",
    allocation_query,
  });
  const merged = "max without (prometheus_replica) (sent_bytes)";
  const generic = () => {
    const gatherer = connectGeneric({
      metrics,
      cluster_id: "c",
      identity_source: {
        source: "prometheus",
        label: "user",
        discovery_query: "group by (user) (sent_bytes)",
      },
      cost_types: [
        cost("SUMMED", "sum(sent_bytes)", byUser("sent_bytes")),
        cost("PLAIN", "sent_bytes", "sent_bytes"),
        cost("MERGED", `sum(${merged})`, byUser(merged)),
        cost("ONCE", "sum(once_bytes)", byUser("once_bytes")),
        cost(
          "MEANT",
          'sum(sent_bytes{prometheus_replica="a"})',
          byUser('sent_bytes{prometheus_replica="a"}'),
        ),
      ],
    });
    t.teardown(() => gatherer.close());
    return gatherer;
  };

  await t.test("a run reports once each query that adds replicas up", async (t) => {
    const gatherer = generic();
    const report = await gatherer.gatherWindow(window, recordingSink(), forever);
    t.strictSame(report.errors, []);
    const wanted = ["cost SUMMED", "cost PLAIN", "usage alloc_SUMMED", "usage alloc_PLAIN"];
    t.strictSame(
      report.notes,
      wanted.map((name) => `the query of ${name}: ${remark("prometheus_replica")}`),
    );
    const again = await gatherer.gatherWindow(window, recordingSink(), forever);
    t.equal(again.notes, undefined, "the next window of the run does not report it again");
  });

  await t.test("check-config --connect reports the same queries", async (t) => {
    const probes = (await generic().probe?.(window, [], forever)) ?? [];
    t.strictSame(Object.fromEntries(probes.map((probe) => [probe.name, probe.remark])), {
      "cost SUMMED": remark("prometheus_replica"),
      "cost PLAIN": remark("prometheus_replica"),
      "cost MERGED": undefined,
      "cost ONCE": undefined,
      "cost MEANT": undefined,
      "usage discovery": undefined,
      "usage alloc_SUMMED": remark("prometheus_replica"),
      "usage alloc_PLAIN": remark("prometheus_replica"),
      "usage alloc_MERGED": undefined,
      "usage alloc_ONCE": undefined,
      "usage alloc_MEANT": undefined,
    });
  });

  await t.test("the storage query of a self-managed cluster is reported", async (t) => {
    const gatherer = connectKafka({
      metrics,
      identity_source: { source: "static", static_identities: [{ identity_id: "ann" }] },
    });
    t.teardown(() => gatherer.close());
    const { notes } = await gatherer.gatherWindow(window, recordingSink(), forever);
    t.strictSame(notes, [`the query of cost SELF_KAFKA_STORAGE: ${remark("replica")}`]);
  });

  await t.test("the byte queries of a Confluent Cloud tenant are reported", async (t) => {
    const bill = await startBill(t, {
      rows: [testCostRow(window.start, { line_type: "KAFKA_NETWORK_WRITE" })],
    });
    const gatherer = connectConfluentTenant(t, bill.url, { settings: { metrics }, today: daysAgo(0) });
    const wanted = `the query of usage bytes_in: ${remark("prometheus_replica")}`;
    const { notes } = await gatherer.gatherWindow(window, recordingSink(), forever);
    t.strictSame(notes, [wanted]);
    t.equal((await gatherer.gatherWindow(window, recordingSink(), forever)).notes, undefined);
    const cluster = {
      resource_id: "lkc-aa11",
      resource_type: "kafka_cluster",
      display_name: null,
      parent_id: null,
      owner_id: null,
      created_at: null,
      metadata: {},
    };
    const probes = (await gatherer.probe?.(window, [cluster], forever)) ?? [];
    t.equal(probes.find(({ name }) => name === "usage bytes_in")?.remark, remark("prometheus_replica"));
  });

  await t.test("usage queries of a FOCUS tenant are reported", async (t) => {
    const query = (metric: string, inner: string) => ({
      metric,
      query: byUser(inner),
      identity_label: "user",
      resource_id: "db",
    });
    const queries = connectQueries(
      {
        metrics,
        metrics_step_seconds: 3600,
        usage: { queries: [query("sent", "sent_bytes"), query("merged", merged)] },
      } as never,
      {
        tenantName: "acme",
        tenantId: "acme-id",
        logger: silent,
        known: async () => ({ resources: [], identities: [] }),
      },
    );
    t.teardown(() => queries?.close());
    const sink: WindowSink = { ...recordingSink(), usageGapsOfBilled: async () => undefined };
    const usage = await queries?.gather(window, new Map() as never, sink, forever);
    t.strictSame(usage?.notes, [`the query of usage sent: ${remark("prometheus_replica")}`]);
  });
});

/** FOCUS lines that are split by usage of a real Prometheus, through whole runs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { midnightSeconds } from "../../src/common/days.js";
import { loadConfig } from "../../src/config/load.js";
import { formatProblem } from "../../src/config/reader/problem.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { csv } from "../ingest/focus/bills.js";
import { PASSWORD, startRealPrometheus } from "../ingest/prometheus/real-prometheus.js";
import { type ScriptedSeries, startScriptedPrometheus } from "../ingest/prometheus/scripted-prometheus.js";
import { needs } from "../programs.js";
import { openTestStores, temporaryFolder, testConfig } from "../stores.js";
import { chargedOn, reconciled, runContext, runOnce, runRows } from "./runs.js";

const DAY = "2026-06-24";

const tenant = (folder: string, url: string, metric = "cpu_hours") => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    allocation:
      identity: [{ tag: team }]
      rules:
        - name: clusters
          where: { resource_id: "eks-*" }
          split: [{ by: usage, metric: ${metric} }, { by: even, among: [web, ops] }]
        - name: gpus
          where: { resource_id: gpu-1 }
          split: [{ by: usage, metrics: [gpu_hours] }]
    plugin_settings:
      metrics: { url: "${url}", auth_type: basic, username: me, password: ${PASSWORD} }
      usage:
        queries:
          - metric: cpu_hours
            query: sum by (cluster, namespace) (app_cpu)
            resource_label: cluster
            identity_label: namespace
          - metric: gpu_hours
            query: sum by (team) (app_gpu)
            resource_id: gpu-1
            identity_label: team
      sources:
        - name: cloud
          location: ${folder}
          limits: { settle_seconds: 0 }`;

const on = (day: number) => ({
  ChargePeriodStart: `2026-06-${day}T00:00:00Z`,
  ChargePeriodEnd: `2026-06-${day + 1}T00:00:00Z`,
});

function write(folder: string, rows: Parameters<typeof csv>[0]) {
  mkdirSync(join(folder, "2026-06"), { recursive: true });
  writeFileSync(join(folder, "2026-06", "bill.csv"), csv(rows));
}

/** Samples for each hour of a day. */
const hourly = (series: string, day: string, value: number) =>
  Array.from({ length: 24 }, (_, hour) => `${series} ${value} ${midnightSeconds(day) + (hour + 1) * 3600}`);

const openMetrics = [
  "# TYPE app_cpu gauge",
  ...hourly('app_cpu{cluster="eks-1",namespace="web"}', DAY, 3),
  ...hourly('app_cpu{cluster="eks-1",namespace="data",pod="a"}', DAY, 0.5),
  ...hourly('app_cpu{cluster="eks-1",namespace="data",pod="b"}', DAY, 0.5),
  ...hourly('app_cpu{cluster="eks-2",namespace="ops"}', DAY, 7),
  ...hourly('app_cpu{cluster="eks-9",namespace="nobody"}', DAY, 7),
  ...hourly('app_cpu{cluster="eks-1"}', DAY, 4),
  ...hourly('app_cpu{namespace="web"}', DAY, 100),
  "# TYPE app_gpu gauge",
  ...hourly('app_gpu{team="ml"}', DAY, 1),
  ...hourly('app_gpu{team="web"}', "2026-06-25", 1),
  "# EOF",
  "",
].join("\n");

const bill = [
  { ...on(24), EffectiveCost: "8", ResourceId: "eks-1" },
  { ...on(24), EffectiveCost: "5", ResourceId: "eks-2" },
  { ...on(24), EffectiveCost: "2", ResourceId: "eks-3" },
  { ...on(24), EffectiveCost: "9", ResourceId: "gpu-1" },
  { ...on(24), EffectiveCost: "1", ResourceId: "i-1", Tags: '{"team":"web"}' },
];
const measured = [
  "UNALLOCATED: 4 owner_unknown",
  "data: 1",
  "web: 3",
  "ops: 5",
  "ops: 1 no_metrics_located",
  "web: 1 no_metrics_located",
];
const [charged, others] = [[...measured, "ml: 9"], "web: 1 line_identity_allocation"];
const away = [
  "ops: 4 metrics_fetch_failed",
  "web: 4 metrics_fetch_failed",
  "ops: 2.5 metrics_fetch_failed",
  "web: 2.5 metrics_fetch_failed",
  "ops: 1 metrics_fetch_failed",
  "web: 1 metrics_fetch_failed",
  "UNALLOCATED: 9 metrics_fetch_failed",
];
const NOWHERE = "http://127.0.0.1:9/prometheus";

t.test("lines are split by usage that Prometheus measured", needs("prometheus", "promtool"), async (t) => {
  const { url } = await startRealPrometheus(t, openMetrics);
  const folder = temporaryFolder(t);
  write(folder, bill);
  const { stores, folder: home } = await openTestStores(t, tenant(folder, url));
  const run = async (address: string) =>
    await runOnce(runContext(stores), testConfig(tenant(folder, address), home), "acme");
  const provisional = async () =>
    await runRows(stores, "acme", "SELECT DISTINCT day, provisional FROM chargebacks ORDER BY day");

  const without = await run(NOWHERE);
  t.equal(without.status, "completed_with_errors");
  t.strictSame(await chargedOn(stores, "acme", DAY), [...away, others], "a bill does without its usage");
  t.strictSame(await provisional(), [{ day: DAY, provisional: true }]);
  t.match(
    JSON.stringify(without),
    /cpu_hours, gpu_hours of eks-1, eks-2, eks-3 and 2 more could not be fetched/,
  );

  const first = await run(url);
  t.strictSame([first.status, first.errors, first.dates_calculated], ["completed", [], 1]);
  t.strictSame(await chargedOn(stores, "acme", DAY), [...charged, others]);
  t.strictSame(await provisional(), [{ day: DAY, provisional: false }]);
  t.strictSame((await reconciled(stores, "acme")).off, []);

  const again = await run(url);
  t.strictSame([again.status, again.dates_calculated], ["completed", 0]);
  write(folder, [...bill, { ...on(25), EffectiveCost: "4", ResourceId: "gpu-1" }]);
  await run(NOWHERE);
  t.strictSame(await chargedOn(stores, "acme", DAY), [...charged, others], "what was measured stays");
  t.strictSame(await chargedOn(stores, "acme", "2026-06-25"), ["UNALLOCATED: 4 metrics_fetch_failed"]);
  await run(url);
  t.strictSame(await chargedOn(stores, "acme", "2026-06-25"), ["web: 4"]);
});

t.test(
  "usage of a resource with other upper and lower case in the bill is reported, and counts with `ignore_case`",
  needs("prometheus", "promtool"),
  async (t) => {
    const { url } = await startRealPrometheus(t, openMetrics);
    const folder = temporaryFolder(t);
    write(folder, [
      { ...on(24), EffectiveCost: "8", ResourceId: "EKS-1" },
      { ...on(24), EffectiveCost: "5", ResourceId: "eks-2" },
    ]);
    const exact = tenant(folder, url).replace('"eks-*"', '["eks-*", "EKS-*"]');
    const ignoring = exact.replace(
      "resource_label: cluster",
      "resource_label: cluster\n            ignore_case: true",
    );
    const { stores, folder: home } = await openTestStores(t, exact);
    const first = await runOnce(runContext(stores), testConfig(exact, home), "acme");
    const note =
      'metric cpu_hours: 1 resource is billed in another case alone, such as "eks-1" as "EKS-1": did you mean `ignore_case: true`?';
    t.strictSame(
      first.notes.filter((each) => each.includes("another case")),
      [note],
    );
    const even = ["ops: 4 no_metrics_located", "web: 4 no_metrics_located"];
    t.strictSame((await chargedOn(stores, "acme", DAY)).toSorted(), [...even, "ops: 5"].toSorted());
    const second = await runOnce(runContext(stores), testConfig(ignoring, home), "acme");
    t.strictSame(
      second.notes.filter((each) => each.includes("another case")),
      [],
    );
    t.strictSame(
      (await chargedOn(stores, "acme", DAY)).toSorted(),
      ["UNALLOCATED: 4 owner_unknown", "data: 1", "ops: 5", "web: 3"].toSorted(),
      "as it was measured",
    );
  },
);

t.test("usage that cannot be stored makes a day provisional only if its resource is billed", async (t) => {
  let broken: Record<string, readonly ScriptedSeries[]> = {};
  const prometheus = await startScriptedPrometheus(t, (query) => {
    if (query.includes("app_gpu")) return [{ labels: { team: "ml" }, at: () => 1 }];
    return Object.entries(broken).flatMap(([cluster, series]) => [
      { labels: { cluster, namespace: "web" }, at: () => 1 },
      ...series.map(({ labels, at }) => ({ labels: { cluster, ...labels }, at })),
    ]);
  });
  const folder = temporaryFolder(t);
  const bill = [
    { ...on(24), EffectiveCost: "8", ResourceId: "eks-1" },
    { ...on(24), EffectiveCost: "2", ResourceId: "gpu-1" },
  ];
  write(folder, bill);
  const { config, stores } = await openTestStores(t, tenant(folder, prometheus.url));
  const run = async (series: typeof broken) => {
    broken = series;
    const { status, errors } = await runOnce(runContext(stores), config, "acme");
    const provisional = await runRows<{ day: string }>(
      stores,
      "acme",
      "SELECT DISTINCT toString(day) AS day FROM chargebacks WHERE provisional ORDER BY day",
    );
    return {
      status,
      errors: errors.map(({ message }) => message),
      provisional: provisional.map(({ day }) => day),
    };
  };
  const tooLarge = { labels: { namespace: "data" }, at: () => "1e40" };
  const refused = { labels: { namespace: "bell\u0007" }, at: () => 1 };
  t.strictSame(
    await run({ "eks-1": [], "eks-8": [tooLarge], "eks-9": [refused] }),
    { status: "completed", errors: [], provisional: [] },
    "resources that are not billed",
  );
  write(folder, [
    ...bill,
    { ...on(25), EffectiveCost: "5", ResourceId: "eks-1" },
    { ...on(26), EffectiveCost: "2", ResourceId: "eks-2" },
  ]);
  const found = await run({ "eks-1": [tooLarge], "eks-2": [refused] });
  t.strictSame([found.status, found.provisional], ["completed_with_errors", ["2026-06-25", "2026-06-26"]]);
  const lacks = found.errors.filter((message) => message.startsWith("the chargebacks are provisional: "));
  t.equal(lacks.length, 2);
  t.match(lacks[0], /cpu_hours of eks-1 could not be fetched: a sample is too large to be a usage/);
  t.match(lacks[1], /cpu_hours of eks-2 could not be fetched: a usage fact of identity .* cannot be stored/);
});

t.test("a rule with a metric that is not configured is refused", async (t) => {
  const problemsOf = (text: string) => {
    const loaded = loadConfig(text, { file: "c.yaml", env: {}, ecosystems });
    return loaded.ok ? [] : loaded.problems.map((each) => formatProblem(each).replace(/^c.yaml:\d+: /, ""));
  };
  const path = "tenants.acme.allocation.rules[0].split[0].metric";
  t.strictSame(problemsOf(tenant("/bills", NOWHERE, "cpu")), [
    `${path}: is no metric of this tenant; known: cpu_hours, gpu_hours`,
  ]);
  const text = tenant("/bills", NOWHERE).replace(/\n {6}metrics: .*/, "");
  t.strictSame(problemsOf(text), [
    "tenants.acme.plugin_settings.metrics: is required: usage.queries ask Prometheus",
  ]);
  const settings = "tenants.acme.plugin_settings.usage.queries[1]";
  t.strictSame(problemsOf(tenant("/bills", NOWHERE).replace("resource_id: gpu-1\n            i", "i")), [
    `${settings}: needs resource_label or resource_id`,
  ]);
});

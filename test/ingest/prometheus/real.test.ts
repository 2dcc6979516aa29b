/**
 * A real Prometheus as the upstream of a `generic_metrics_only` tenant, with amounts calculated by hand.
 *
 * The gauges have one sample an hour, on the hour, for the hour before it. `app_bytes_total` is a counter that is
 * scraped every minute.
 */
import t from "tap";
import { midnightSeconds } from "../../../src/common/days.js";
import { holds } from "../../holds.js";
import { needs } from "../../programs.js";
import { connectGeneric, daysAgo, forever } from "../generic_metrics_only/tenant.js";
import { recordingSink } from "../recording-sink.js";
import { PASSWORD, startRealPrometheus } from "./real-prometheus.js";

const GIB = 2 ** 30;
const [before, first, second, third] = [daysAgo(5), daysAgo(4), daysAgo(3), daysAgo(2)];

/** Samples at the hours `from` to `to` of a day; hour 24 is the midnight that ends it. */
const hourly = (series: string, day: string, [from, to]: [number, number], value: number | string) =>
  Array.from(
    { length: to - from + 1 },
    (_, index) => `${series} ${value} ${midnightSeconds(day) + (from + index) * 3600}`,
  );

/** A counter that grows by 1,000 bytes a minute, over the days of the window and an hour before. */
function counter(series: string): string[] {
  const from = midnightSeconds(first) - 3600;
  const minutes = (midnightSeconds(third) - from) / 60;
  return Array.from(
    { length: minutes + 1 },
    (_, minute) => `${series} ${1000 * minute} ${from + minute * 60}`,
  );
}

const openMetrics = [
  "# TYPE app_stored_bytes gauge",
  // The midnight that begins the window belongs to the day before: its huge value must not be seen.
  ...hourly('app_stored_bytes{disk="a"}', before, [24, 24], 9e15),
  ...hourly('app_stored_bytes{disk="a"}', first, [1, 24], 10 * GIB),
  ...hourly('app_stored_bytes{disk="a"}', second, [1, 24], 10 * GIB),
  ...hourly('app_stored_bytes{disk="b"}', first, [1, 12], 20 * GIB),
  ...hourly('app_stored_bytes{disk="b"}', first, [13, 24], 40 * GIB),
  "# TYPE app_moved_bytes gauge",
  ...hourly('app_moved_bytes{principal="alice"}', first, [1, 24], GIB),
  ...hourly('app_moved_bytes{principal="alice"}', second, [1, 24], 2 * GIB),
  // Bob moves once, in the last hour of the first day: its sample carries the date of the second.
  ...hourly('app_moved_bytes{principal="bob"}', first, [24, 24], GIB / 2),
  ...hourly('app_moved_bytes{principal="carol"}', second, [5, 5], "NaN"),
  "# TYPE app_bytes counter",
  ...counter('app_bytes_total{principal="dave"}'),
  "# EOF",
  "",
].join("\n");

const settings = {
  cluster_id: "app",
  identity_source: { source: "prometheus", discovery_query: "group by (principal) (app_moved_bytes)" },
  cost_types: [
    {
      name: "COMPUTE",
      product_category: "app",
      rate: "0.333333333333",
      cost_quantity: { type: "fixed", count: 2 },
      allocation_strategy: "even_split",
    },
    {
      name: "STORAGE",
      product_category: "app",
      rate: "0.0001",
      cost_quantity: { type: "storage_gib", query: "app_stored_bytes" },
      allocation_strategy: "even_split",
    },
    {
      name: "NETWORK",
      product_category: "app",
      rate: "0.01",
      cost_quantity: { type: "network_gib", query: 'sum(app_moved_bytes{principal!="carol"})' },
      allocation_strategy: "usage_ratio",
      allocation_query: "sum by (principal) (app_moved_bytes)",
      allocation_label: "principal",
    },
    {
      name: "METERED",
      product_category: "app",
      rate: "0",
      cost_quantity: { type: "fixed", count: 1 },
      allocation_strategy: "usage_ratio",
      allocation_query: "sum by (principal) (increase(app_bytes_total[$step]))",
      allocation_label: "principal",
    },
  ],
};

t.test("a metered system works on a real Prometheus", needs("prometheus", "promtool"), async (t) => {
  await t.test("lines and usage of a real Prometheus are those calculated by hand", async (t) => {
    const { url } = await startRealPrometheus(t, openMetrics);
    const metrics = { url, auth_type: "basic", username: "me", password: PASSWORD };
    const gatherer = connectGeneric({ ...settings, metrics });
    t.teardown(() => gatherer.close());
    const sink = recordingSink();
    const report = await gatherer.gatherWindow({ start: first, end: third }, sink, forever);
    holds(t, report, { completeDays: [first, second], errors: [] });
    t.same(report.dropped, { not_finite: 1 }, "NaN of carol is dropped, and discovery groups it to 1");

    const costs = sink.recorded.billing.map((line) => [
      line.timestamp.slice(0, 10),
      line.product_type,
      line.quantity,
      line.total_cost,
    ]);
    t.same(costs, [
      [first, "COMPUTE", "48", "15.999999999984"],
      // disk a 10 GiB all day, disk b 20 then 40: mean 40 GiB, times 24 h.
      [first, "STORAGE", "960", "0.096"],
      // alice 24 x 1 GiB, bob 0.5 GiB.
      [first, "NETWORK", "24.5", "0.245"],
      [first, "METERED", "24", "0"],
      [second, "COMPUTE", "48", "15.999999999984"],
      [second, "STORAGE", "240", "0.024"],
      [second, "NETWORK", "48", "0.48"],
      [second, "METERED", "24", "0"],
    ]);

    const used = new Map<string, bigint>();
    for (const { metric, timestamp, identity_id, micro_units } of sink.recorded.usage) {
      const key = `${timestamp.slice(0, 10)} ${metric} ${identity_id}`;
      used.set(key, (used.get(key) ?? 0n) + BigInt(micro_units));
    }
    const micro = (units: number) => BigInt(units) * 1_000_000n;
    t.same(Object.fromEntries([...used].sort()), {
      [`${first} alloc_METERED dave`]: micro(24 * 60_000),
      [`${first} alloc_NETWORK alice`]: micro(24 * GIB),
      [`${first} alloc_NETWORK bob`]: micro(GIB / 2),
      [`${first} discovery alice`]: micro(24),
      [`${first} discovery bob`]: micro(1),
      [`${second} alloc_METERED dave`]: micro(24 * 60_000),
      [`${second} alloc_NETWORK alice`]: micro(48 * GIB),
      [`${second} discovery alice`]: micro(24),
      [`${second} discovery carol`]: micro(1),
    });
    t.ok(
      sink.recorded.usage.some(
        (fact) => fact.identity_id === "bob" && fact.timestamp === `${first}T23:00:00Z`,
      ),
    );
  });

  await t.test("a real Prometheus refuses a wrong password and a wrong query", async (t) => {
    const { url } = await startRealPrometheus(t, openMetrics);
    const window = { start: first, end: third };
    const metrics = { url, auth_type: "basic", username: "me", password: PASSWORD };
    const denied = connectGeneric({ ...settings, metrics: { ...metrics, password: "wrong" } });
    await t.rejects(denied.gatherWindow(window, recordingSink(), forever), {
      code: "unauthorized",
      status: 401,
    });
    const cost_types = [{ ...settings.cost_types[1], cost_quantity: { type: "storage_gib", query: "sum(" } }];
    const wrong = connectGeneric({ ...settings, metrics, cost_types });
    await t.rejects(wrong.gatherWindow(window, recordingSink(), forever), {
      code: "bad_status",
      message: /parse error/,
    });
    const absent = connectGeneric({
      ...settings,
      metrics,
      cost_types: [
        { ...settings.cost_types[1], cost_quantity: { type: "storage_gib", query: "no_such_metric" } },
      ],
    });
    const report = await absent.gatherWindow(window, recordingSink(), forever);
    holds(t, report, { completeDays: [], errors: [/STORAGE: the cost query has no samples/] });
  });
});

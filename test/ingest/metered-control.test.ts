/**
 * Control totals of metered costs: each expected step is in exactly one class, and the amounts are those of the lines.
 */
import t, { type Test } from "tap";
import { dayOf, daysOfWindow, midnightSeconds } from "../../src/common/days.js";
import { sumText } from "../../src/common/exact-decimal.js";
import type { ControlTotal } from "../../src/domain/control-totals.js";
import type { Gatherer } from "../../src/ingest/ecosystem.js";
import { controlOfWindow } from "../../src/ingest/metered/control.js";
import type { MeteredProduct } from "../../src/ingest/metered/price-day.js";
import { type Measured, sendBill } from "../../src/ingest/metered/send-bill.js";
import fc from "../property.js";
import { connectGeneric, daysAgo, forever } from "./generic_metrics_only/tenant.js";
import { startScriptedPrometheus } from "./prometheus/scripted-prometheus.js";
import { recordingSink } from "./recording-sink.js";
import { connectKafka } from "./self_managed_kafka/tenant.js";

const GIB = 2 ** 30;
const window = { start: daysAgo(7), end: daysAgo(2) };
const [before = "", first = "", gap = "", short = "", broken = ""] = daysOfWindow(window);

/** `day class reason rows cost`, in the order of the days and the classes. */
const textOf = (totals: readonly ControlTotal[] = []) =>
  totals.map((total) => {
    t.strictSame([total.billed, total.effective, total.delivery], [total.cost, total.cost, null]);
    return [total.day, total.class, total.reason, total.rows, total.cost, total.currency].join(" ");
  });

/**
 * Six hours on the first day, two hours missing on the next, eight measured on the one after, then a day that cannot be
 * fetched.
 */
async function startMetrics(t: Test) {
  const isBroken = (point: number) => dayOf(new Date((point - 1) * 1000)) === broken;
  const prometheus = await startScriptedPrometheus(t, () => [
    {
      at: (point) => {
        const day = dayOf(new Date((point - 1) * 1000));
        const hour = Math.floor(((point - 1) % 86_400) / 3600);
        if (isBroken(point)) return "broken";
        if (day < first || (day === first && hour < 18)) return undefined;
        if (day === gap && (hour === 3 || hour === 4)) return undefined;
        return day === short && hour > 7 ? undefined : GIB;
      },
    },
  ]);
  return { type: "prometheus", url: prometheus.url, auth_type: "none" };
}

async function gathered(t: Test, gatherer: Gatherer) {
  t.teardown(() => gatherer.close());
  const sink = recordingSink();
  const report = await gatherer.gatherWindow(window, sink, forever);
  return { ...report, lines: sink.recorded.billing };
}

t.test("hours of a generic tenant are classified", async (t) => {
  const cost = (name: string, rate: string, cost_quantity: Record<string, unknown>) => ({
    name,
    rate,
    cost_quantity,
    product_category: "c",
    allocation_strategy: "even_split",
  });
  const report = await gathered(
    t,
    connectGeneric({
      metrics: await startMetrics(t),
      cluster_id: "db",
      identity_source: { source: "static", static_identities: [{ identity_id: "a" }] },
      cost_types: [
        cost("S", "1", { type: "storage_gib", query: "size" }),
        cost("FREE", "0", { type: "network_gib", query: "sent" }),
        cost("F", "0.1", { type: "fixed", count: 2 }),
      ],
    }),
  );
  t.strictSame([report.completeDays, report.partialDays], [[first, gap], [short]]);
  t.strictSame(textOf(report.control), [
    `${before} delivered  72 0 USD`,
    `${before} outside_window before_first_sample 72 0 USD`,
    `${first} delivered  72 10.8 USD`,
    `${first} charged  30 10.8 USD`,
    `${first} outside_window before_first_sample 36 0 USD`,
    `${first} zero  6 0 USD`,
    `${gap} delivered  72 28.8 USD`,
    `${gap} charged  46 28.8 USD`,
    `${gap} left_out no_sample 4 0 USD`,
    `${gap} zero  22 0 USD`,
    `${short} delivered  72 4.8 USD`,
    `${short} left_out not_measured 48 0 USD`,
    `${short} charged  24 4.8 USD`,
    `${broken} delivered  72 4.8 USD`,
    `${broken} left_out not_measured 48 0 USD`,
    `${broken} charged  24 4.8 USD`,
  ]);
  t.strictSame(report.billed, [
    { day: first, currency: "USD", amount: "10.8" },
    { day: gap, currency: "USD", amount: "28.8" },
    { day: short, currency: "USD", amount: "4.8" },
  ]);
});

t.test("hours of a self-managed cluster are classified", async (t) => {
  const report = await gathered(
    t,
    connectKafka({
      metrics: await startMetrics(t),
      identity_source: { source: "static", static_identities: [{ identity_id: "a" }] },
    }),
  );
  t.strictSame(textOf(report.control), [
    `${before} delivered  96 0 USD`,
    `${before} outside_window before_first_sample 96 0 USD`,
    `${first} delivered  96 7.3806 USD`,
    `${first} charged  42 7.3806 USD`,
    `${first} outside_window before_first_sample 54 0 USD`,
    `${gap} delivered  96 7.8624 USD`,
    `${gap} charged  90 7.8624 USD`,
    `${gap} left_out no_sample 6 0 USD`,
    ...[short, broken].flatMap((day) => [
      `${day} delivered  96 7.2 USD`,
      `${day} charged  24 7.2 USD`,
      `${day} left_out not_measured 72 0 USD`,
    ]),
  ]);
  t.strictSame(
    report.billed?.map(({ day, amount }) => `${day} ${amount}`),
    [`${first} 7.3806`, `${gap} 7.8624`, `${short} 7.2`, `${broken} 7.2`],
  );
});

t.test("expected hours are the sum of their classes, and charged amounts those of the lines", async (t) => {
  const products: MeteredProduct[] = [
    { name: "F", category: "c", rate: "0.333", quantity: { type: "fixed", count: 2 } },
    { name: "S", category: "c", rate: "0.07", quantity: { type: "storage_gib", query: "s" } },
    { name: "N", category: "c", rate: "0", quantity: { type: "network_gib", query: "n" } },
    { name: "P", category: "c", rate: "1.5", quantity: { type: "network_gib", query: "p" } },
  ];
  const state = fc.constantFrom("whole", "gaps", "none", "failed", "partly", "first", "absent");
  const run = fc.record({
    products: fc.shuffledSubarray(products, { minLength: 1 }),
    states: fc.array(state, { minLength: 5 * 4, maxLength: 5 * 4 }),
    stepSeconds: fc.constantFrom(3600, 900),
    whenUnmeasured: fc.constantFrom("no_bill" as const, "partial_bill" as const),
    size: fc.nat(5 * GIB),
  });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(run, async ({ products, states, stepSeconds, whenUnmeasured, size }) => {
      const days = daysOfWindow(window);
      const steps = 86_400 / stepSeconds;
      const stateOf = (at: number, index: number) => states[at * 4 + index] ?? "whole";
      const absent = new Set(days.filter((_, index) => stateOf(0, index) === "absent").slice(0, 1));
      const measured = products.map(({ ...product }, at): Measured => {
        const sums = new Map<string, Map<number, { units: bigint; scale: number }>>();
        const [failed, partly] = [new Map<string, string>(), new Map<string, string>()];
        let firstDay: { day: string; size: string } | undefined;
        days.forEach((day, index) => {
          const is = stateOf(at, index);
          if (absent.has(day) || is === "none" || is === "absent") return;
          if (is === "failed") failed.set(day, "down");
          if (is === "partly") partly.set(day, "only a part");
          if (is === "failed" || is === "partly") return;
          if (is === "first") firstDay ??= { day, size: "a part" };
          const from = is === "first" ? Math.floor(steps / 3) : 0;
          const starts = Array.from({ length: steps }, (_, step) => step)
            .filter((step) => step >= from && (is !== "gaps" || step % 12 !== 5))
            .map((step) => midnightSeconds(day) + step * stepSeconds);
          sums.set(day, new Map(starts.map((start) => [start, { units: BigInt(size), scale: 0 }])));
        });
        const none = { sums: new Map(), failed: new Map(), partly: new Map(), first: undefined };
        return {
          product,
          samples: product.quantity.type === "fixed" ? none : { sums, failed, partly, first: firstDay },
        };
      });
      const tenant = { resourceId: "r", currency: "EUR", stepSeconds, whenUnmeasured };
      const sink = recordingSink();
      const billable = days.filter((day) => !absent.has(day));
      const { costs, billed } = await sendBill(tenant, billable, measured, sink);
      const totals = controlOfWindow(tenant, window, { measured, absent, costs });
      for (const day of days) {
        const own = totals.filter((total) => total.day === day);
        const delivered = own.filter((total) => total.class === "delivered");
        const classes = own.filter((total) => total.class !== "delivered");
        for (const each of classes) seen.add(`${each.class} ${each.reason}`.trim());
        t.strictSame(
          delivered.map(({ rows, cost }) => [rows, cost]),
          [[products.length * steps, sumText(classes.map(({ cost }) => cost))]],
        );
        t.equal(
          classes.reduce((sum, { rows }) => sum + rows, 0),
          products.length * steps,
        );
        t.ok(classes.every(({ rows }) => rows > 0));
        const amount = billed?.find((each) => each.day === day)?.amount;
        const lines = sink.recorded.billing.filter(({ timestamp }) => timestamp.startsWith(day));
        if (amount === undefined) t.equal(lines.length, 0);
        else {
          t.equal(sumText(lines.map(({ total_cost }) => total_cost)), amount);
          const charged = classes.filter((total) => total.class === "charged" || total.class === "zero");
          t.equal(sumText(charged.map(({ cost }) => cost)), amount);
        }
      }
    }),
    { numRuns: 200 },
  );
  t.strictSame([...seen].sort(), [
    "charged",
    "left_out failed",
    "left_out no_sample",
    "left_out not_measured",
    "outside_window before_first_sample",
    "zero",
  ]);
});

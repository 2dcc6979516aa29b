/** Control totals of dropped days go with them, and what remains adds up. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { addDays } from "../../src/common/days.js";
import type { AnyEcosystem } from "../../src/ingest/ecosystem.js";
import { confluentCloud, connectGatherer } from "../../src/ingest/ecosystems/confluent_cloud/index.js";
import { isAccountedFor, readControlTotals } from "../../src/query/state/control-totals.js";
import { startBill } from "../ingest/confluent_cloud/bill.js";
import { quick } from "../ingest/confluent_cloud/tenant.js";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder } from "../stores.js";
import { runContext, runOnce, runRows } from "./runs.js";

const first = "2026-05-29";
/** Two days before the end of May, and four of June. */
const days = Array.from({ length: 6 }, (_, index) => addDays(first, index));

const tenant = (ecosystem: string, settings: Record<string, unknown>) =>
  `tenants: ${JSON.stringify({
    acme: {
      ecosystem,
      tenant_id: "acme",
      lookback_days: 7,
      cutoff_days: 1,
      retention_days: 7,
      storage: { connection_string: "embedded:acme" },
      plugin_settings: settings,
    },
  })}`;

/**
 * Runs the tenant when its days are exactly those that are kept, and then as many days later as `offsets` say. Returns
 * its totals after each run.
 */
async function runs(t: Test, yaml: string, offsets: readonly number[], ecosystem?: AnyEcosystem) {
  const { config, stores } = await openTestStores(t, yaml);
  const run = async (today: string) => {
    await runOnce(
      runContext(stores, {
        now: () => new Date(`${today}T12:00:00Z`),
        ...(ecosystem && { ecosystems: new Map([[ecosystem.name, ecosystem]]) }),
      }),
      config,
      "acme",
    );
    const [control] = await readControlTotals(stores.postgres, "acme");
    t.ok(control !== undefined && isAccountedFor(control), "each row is in one class");
    const [billed] = await runRows<{ cost: string }>(
      stores,
      "acme",
      "SELECT toString(sum(total_cost)) AS cost FROM billing",
    );
    const charged = control?.classes.find((each) => each.class === "charged");
    t.equal(charged?.cost, billed?.cost, "the charged amount is the published amount");
    const { rows } = await stores.postgres.query<{ text: string }>(
      `SELECT concat_ws(' ', day, class, nullif(reason, ''), rows, trim_scale(cost)) AS text FROM control_totals ORDER BY day, class, reason`,
    );
    const recorded = await stores.postgres.query<{ at: string }>(
      "SELECT control_report ->> 'recorded_at' AS at FROM tenants",
    );
    return { totals: rows.map(({ text }) => text), recordedAt: recorded.rows[0]?.at };
  };
  const today = addDays(first, days.length + 1);
  const found: Awaited<ReturnType<typeof run>>[] = [];
  for (const offset of [0, ...offsets]) {
    found.push(await run(addDays(today, offset)));
    t.strictSame(await run(addDays(today, offset)), found.at(-1), "another run changes nothing");
  }
  t.equal(new Set(found.map(({ recordedAt }) => recordedAt)).size, found.length, "ETags of responses change");
  return found.map(({ totals }) => totals);
}

const lines = (day: string, rows: number, cost: string) => [
  `${day} charged ${rows} ${cost}`,
  `${day} delivered ${rows} ${cost}`,
];

t.test("hours of dropped days are dropped from the totals of metered costs", async (t) => {
  const [before, after] = await runs(
    t,
    tenant("generic_metrics_only", {
      cluster_id: "c",
      cost_types: [
        {
          name: "COMPUTE",
          product_category: "compute",
          rate: "0.5",
          cost_quantity: { type: "fixed", count: 1 },
          allocation_strategy: "even_split",
        },
      ],
    }),
    [2],
  );
  t.strictSame(
    before,
    days.flatMap((day) => lines(day, 24, "12")),
  );
  const remaining = [...days.slice(2), addDays(first, 6), addDays(first, 7)];
  t.strictSame(
    after,
    remaining.flatMap((day) => lines(day, 24, "12")),
  );
});

t.test("rows of dropped days are dropped from the totals of a Confluent Cloud bill", async (t) => {
  const bill = await startBill(t, {
    rows: days.map((day, index) => ({
      id: `row-${index}`,
      start_date: day,
      end_date: addDays(day, 1),
      granularity: "DAILY",
      product: "SUPPORT_CLOUD_BASIC",
      line_type: "SUPPORT",
      amount: String(index + 1),
    })),
  });
  bill.setInstead((_query, request, response) => {
    const isBill = request.url?.startsWith("/billing/") ?? false;
    if (!isBill) response.end(JSON.stringify({ metadata: {}, data: [] }));
    return !isBill;
  });
  const ecosystem = {
    ...confluentCloud,
    connect: (settings, context) =>
      connectGatherer(settings, context, { ...quick, now: () => new Date("2026-06-06T12:00:00Z") }),
  } satisfies AnyEcosystem;
  const [before, after] = await runs(
    t,
    tenant("confluent_cloud", { ccloud_api: { key: "k", secret: "s3cret", base_url: bill.url } }),
    [2],
    ecosystem,
  );
  t.strictSame(
    before,
    days.flatMap((day, index) => lines(day, 1, String(index + 1))),
  );
  t.strictSame(
    after,
    days.slice(2).flatMap((day, index) => lines(day, 1, String(index + 3))),
  );
});

t.test("lines of dropped days show as not kept until their bill expires, and then go with it", async (t) => {
  const folder = temporaryFolder(t);
  const write = (month: string) => {
    mkdirSync(join(folder, month), { recursive: true });
    const ofMonth = days.filter((day) => day.startsWith(month));
    writeFileSync(
      join(folder, month, "bill.csv"),
      csv(
        ofMonth.map((day) => ({
          BilledCost: "2",
          EffectiveCost: "2",
          ChargePeriodStart: `${day}T00:00:00Z`,
          ChargePeriodEnd: `${addDays(day, 1)}T00:00:00Z`,
        })),
      ),
    );
  };
  write("2026-05");
  write("2026-06");
  const source = { name: "cloud", location: folder, limits: { settle_seconds: 0 } };
  const [before, after, expired] = await runs(t, tenant("focus", { sources: [source] }), [2, 3]);
  const charged = (each: string) => `${each} charged 1 2`;
  const june = [
    "2026-06-01 charged 1 2",
    "2026-06-01 delivered 3 6",
    ...["02", "03"].map((day) => charged(`2026-06-${day}`)),
  ];
  const may = "2026-05-01 delivered 3 6";
  t.strictSame(before, [may, charged("2026-05-29"), charged("2026-05-30"), charged("2026-05-31"), ...june]);
  const notKept = ["29", "30"].map((day) => `2026-05-${day} outside_window before_retention 1 2`);
  t.strictSame(after, [may, ...notKept, charged("2026-05-31"), ...june]);
  t.strictSame(expired, june);
});

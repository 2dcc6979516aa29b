/** Control totals of bills: rows and amounts of the files equal the sums of the classes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { AnyEcosystem, BillingLine } from "../../src/ingest/ecosystem.js";
import { focus } from "../../src/ingest/ecosystems/focus/index.js";
import { type CurrencyControl, readControlTotals } from "../../src/query/state/control-totals.js";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder } from "../stores.js";
import { runContext, runOnce } from "./runs.js";

const tenant = (folder: string, settings = "") => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      ${settings}
      sources:
        - name: cloud
          location: ${folder}
          limits: { settle_seconds: 0 }`;

const on = (day: string, cost: string, more = {}) => ({
  ChargePeriodStart: `${day}T00:00:00Z`,
  ChargePeriodEnd: `${day}T23:59:59Z`,
  BilledCost: cost,
  EffectiveCost: cost,
  ...more,
});

function write(folder: string, rows: Parameters<typeof csv>[0], month = "2026-06") {
  mkdirSync(join(folder, month), { recursive: true });
  writeFileSync(join(folder, month, "bill.csv"), csv(rows));
}

/** Formats each class as `class reason rows cost billed`. */
const shown = ({ delivered, classes, difference, published_only }: CurrencyControl) => ({
  delivered: `${delivered.rows} ${delivered.cost} ${delivered.billed}`,
  classes: classes.map((each) => [each.class, each.reason, each.rows, each.cost, each.billed].join(" ")),
  difference,
  published_only,
});
const line: BillingLine = {
  timestamp: "2026-06-24T00:00:00Z",
  env_id: "",
  resource_id: "r",
  product_category: "Compute",
  product_type: "EC2",
  quantity: "1",
  unit_price: "12",
  total_cost: "12",
  currency: "USD",
  granularity: "daily",
  metadata: {},
};
const none = { rows: 0, cost: "0", billed: "0", effective: "0" };

t.test("each line of a bill is in one class, and the classes add up to the file", async (t) => {
  const folder = temporaryFolder(t);
  write(folder, [
    on("2026-06-01", "10"),
    on("2026-06-02", "-2.5"),
    on("2026-06-24", "7", { ResourceId: "a" }),
    on("2026-06-24", "3", { ResourceId: "b", EffectiveCost: "0" }),
    on("2026-06-30", "4"),
    on("2026-06-24", "6", { EffectiveCost: "six" }),
    on("2026-06-24", "1", { ChargePeriodStart: "yesterday" }),
    on("2026-06-24", "9", { BillingCurrency: "EUR" }),
  ]);
  const { config, stores } = await openTestStores(t, tenant(folder));
  const first = await runOnce(runContext(stores), config, "acme");
  const totals = await readControlTotals(stores.postgres, "acme");
  t.strictSame(
    totals.map(({ currency }) => currency),
    ["EUR", "USD"],
  );
  t.strictSame(totals.map(shown), [
    { delivered: "1 9 9", classes: ["charged  1 9 9"], difference: none, published_only: "0" },
    {
      delivered: "7 19.5 28.5",
      classes: [
        "charged  1 7 7",
        "zero  1 0 3",
        "outside_window before_lookback 2 7.5 7.5",
        "outside_window within_cutoff 1 4 4",
        "left_out no_charge_date 1 1 1",
        "left_out unreadable_cost 1 0 6",
      ],
      difference: none,
      published_only: "0",
    },
  ]);
  t.strictSame(first.notes, [
    "cloud: 2 lines with 7.5 USD before 2026-06-22 are not charged: lookback_days begins with that day. `run --from DAY --to DAY` charges older days",
    "cloud: 1 line is charged with 0 by `cost: effective`, where BilledCost is 3 USD and EffectiveCost is 0 USD",
  ]);
  const second = await runOnce(runContext(stores), config, "acme");
  t.strictSame(second.notes, first.notes, "a run without changes reports the same");

  const older = { start: "2026-06-01", end: "2026-06-03" };
  await runOnce(runContext(stores), config, "acme", { window: older });
  const [, usd] = await readControlTotals(stores.postgres, "acme");
  t.strictSame(
    usd?.classes.map((each) => [each.class, each.reason, each.rows, each.cost].join(" ")),
    [
      "charged  3 14.5",
      "zero  1 0",
      "outside_window within_cutoff 1 4",
      "left_out no_charge_date 1 1",
      "left_out unreadable_cost 1 0",
    ],
    "days before the window that were charged on request count as charged",
  );

  write(folder, [
    on("2026-06-01", "10"),
    on("2026-06-01", "-3", { ResourceId: "late refund" }),
    on("2026-06-24", "7", { ResourceId: "a" }),
    on("2026-06-24", "3", { ResourceId: "b" }),
    on("2026-06-24", "9", { BillingCurrency: "EUR" }),
  ]);
  const revised = await runOnce(runContext(stores), config, "acme");
  t.strictSame((await readControlTotals(stores.postgres, "acme")).map(shown)[1], {
    delivered: "4 17 17",
    classes: ["charged  3 20 20", "outside_window before_lookback 1 -3 -3"],
    difference: none,
    published_only: "-2.5",
  });
  t.strictSame(revised.notes, [
    "cloud: 1 line with -3 USD before 2026-06-22 is not charged: lookback_days begins with that day. `run --from DAY --to DAY` charges older days",
  ]);
});

t.test("rows of a copied file are duplicates, and rows of a replaced bill are superseded", async (t) => {
  const folder = temporaryFolder(t);
  const bill = csv([on("2026-06-24", "7", { ResourceId: "a" }), on("2026-06-25", "3", { ResourceId: "b" })]);
  for (const name of ["2026-06", "2026-06 (1)"]) writeFileSync(join(folder, `${name}.csv`), bill);
  const { config, stores } = await openTestStores(t, tenant(folder, 'precedence: ["cloud/*final*"]'));
  const first = await runOnce(runContext(stores), config, "acme");
  t.strictSame([first.status, first.dates_calculated], ["completed", 2]);
  t.strictSame((await readControlTotals(stores.postgres, "acme")).map(shown), [
    {
      delivered: "4 20 20",
      classes: ["charged  2 10 10", "duplicate  2 10 10"],
      difference: none,
      published_only: "0",
    },
  ]);
  writeFileSync(
    join(folder, "2026-06-final.csv"),
    csv([on("2026-06-24", "7.5", { ResourceId: "a" }), on("2026-06-25", "3", { ResourceId: "b" })]),
  );
  const decided = await runOnce(runContext(stores), config, "acme");
  const gaveWay =
    'cloud 2026-06: another bill is charged for 2026-06 of account "payer" from 2026-06-24 to 2026-06-25';
  t.strictSame([decided.dates_calculated, decided.errors, decided.notes], [1, [], [gaveWay]]);
  t.strictSame((await readControlTotals(stores.postgres, "acme")).map(shown), [
    {
      delivered: "6 30.5 30.5",
      classes: ["charged  2 10.5 10.5", "superseded  2 10 10", "duplicate  2 10 10"],
      difference: none,
      published_only: "0",
    },
  ]);
});

t.test("a day whose staged lines do not add up to the rows of the bill is not calculated", async (t) => {
  const { config, stores } = await openTestStores(t, tenant(temporaryFolder(t)));
  const gatherer = (billed: string): AnyEcosystem => ({
    ...focus,
    connect: () => ({
      daysPerWindow: 31,
      close: async () => undefined,
      gatherInventory: async () => ({ completeResourceTypes: [], completeIdentityTypes: [], errors: [] }),
      async gatherWindow(_, sink) {
        await sink.billing([line]);
        return {
          completeDays: ["2026-06-24"],
          dropped: {},
          errors: [],
          billed: [{ day: "2026-06-24", currency: "USD", amount: billed }],
        };
      },
    }),
  });
  const run = async (billed: string) =>
    await runOnce(runContext(stores, { ecosystems: new Map([["focus", gatherer(billed)]]) }), config, "acme");
  const short = await run("12.000000000001");
  t.equal(short.dates_calculated, 0);
  t.strictSame(
    short.errors.map(({ message }) => message),
    [
      "2026-06-24: the rows of the bill add up to 12.000000000001 USD, and 12 USD was staged: nothing of the day is calculated",
    ],
  );
  const equal = await run("12");
  t.strictSame([equal.dates_calculated, equal.errors], [1, []]);
});

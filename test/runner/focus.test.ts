/** A FOCUS bill through a whole run: from files in a folder to published chargebacks. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { addDays } from "../../src/common/days.js";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder } from "../stores.js";
import { daysBefore, reconciled, runContext, runDay, runOnce, runRows } from "./runs.js";

const tenant = (folder: string, settings = "", cutoff = "    cutoff_days: 1\n") => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
${cutoff}    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      ${settings}
      sources:
        - name: cloud
          location: ${folder}
          limits: { settle_seconds: 0 }`;

const at = (day: number, hours = 0, days = 1) => ({
  ChargePeriodStart: `2026-06-${String(day).padStart(2, "0")}T${String(hours).padStart(2, "0")}:00:00Z`,
  ChargePeriodEnd: new Date(Date.UTC(2026, 5, day + days, hours)).toISOString(),
});

function write(folder: string, rows: Parameters<typeof csv>[0]) {
  mkdirSync(join(folder, "2026-06"), { recursive: true });
  writeFileSync(join(folder, "2026-06", "bill.csv"), csv(rows));
}

const published = `SELECT toString(day) AS day, resource_id, product_type, currency, toString(total_cost) AS cost FROM billing ORDER BY day, currency, resource_id, line_id`;

t.test("lines are charged to their days, equal ones together and currencies separately", async (t) => {
  const folder = temporaryFolder(t);
  const rows = [
    { ...at(23), EffectiveCost: "1.5", Tags: '{"team":"a"}', x_Extra: "e" },
    { ...at(23), EffectiveCost: "1.5", Tags: '{"team":"a"}', x_Extra: "e" },
    { ...at(24, 5), EffectiveCost: "2", BillingCurrency: "EUR", ResourceId: "" },
    { ...at(24, 5), EffectiveCost: "2", BillingCurrency: "USD", ResourceId: "", SubAccountId: "" },
    { ...at(24, 5), EffectiveCost: "-200", BillingCurrency: "JPY" },
  ];
  write(folder, rows);
  const { config, stores } = await openTestStores(t, tenant(folder));
  const run = async () => await runOnce(runContext(stores), config, "acme");
  const first = await run();
  t.strictSame([first.status, first.dates_calculated, first.errors], ["completed", 2, []]);
  t.strictSame(
    (await runRows<Record<string, string>>(stores, "acme", published)).map((row) =>
      Object.values(row).join(" "),
    ),
    [
      "2026-06-23 i-1 EC2 USD 3",
      "2026-06-24 team EC2 EUR 2",
      "2026-06-24 i-1 EC2 JPY -200",
      "2026-06-24 payer EC2 USD 2",
    ],
  );
  const cloud =
    "SELECT account_id, env_id, line_tags AS tags, toString(billed_cost) AS billed, metadata FROM billing WHERE day = '2026-06-23'";
  t.strictSame(await runRows(stores, "acme", cloud), [
    {
      account_id: "payer",
      env_id: "team",
      tags: { team: "a" },
      billed: "2",
      metadata: JSON.stringify({
        ChargePeriodEnd: "2026-06-24T00:00:00Z",
        ChargePeriodStart: "2026-06-23T00:00:00Z",
        ContractedCost: "2",
        EffectiveCost: "3",
        ResourceId: "i-1",
        ResourceType: "Instance",
        x_Extra: "e",
      }),
    },
  ]);
  t.strictSame((await reconciled(stores, "acme")).off, []);

  await t.test("an unchanged bill is not read again, and only a changed day is recalculated", async (t) => {
    const again = await run();
    t.strictSame([again.dates_gathered, again.dates_calculated], [first.dates_gathered, 0]);
    rows[0] = { ...at(23), EffectiveCost: "4", Tags: "", x_Extra: "" };
    write(folder, rows.toReversed());
    const changed = await run();
    t.strictSame([changed.status, changed.dates_calculated], ["completed", 1]);
    t.strictSame(
      (await runRows<Record<string, string>>(stores, "acme", published))
        .slice(0, 2)
        .map(({ day, cost }) => `${day} ${cost}`)
        .sort(),
      ["2026-06-23 1.5", "2026-06-23 4"],
    );
  });

  await t.test("a line that cannot be charged makes its day partial, and is reported", async (t) => {
    write(folder, [...rows, { ...at(25), EffectiveCost: "x" }]);
    const partial = await run();
    t.strictSame(partial.status, "completed_with_errors");
    t.match(
      JSON.stringify(partial.errors),
      /cloud 2026-06: 1 line has no readable date, currency or EffectiveCost, and is not charged/,
    );
  });
});

t.test("a charge of many days is divided among them, to the last digit", async (t) => {
  const folder = temporaryFolder(t);
  write(folder, [
    { ...at(23, 12, 3), EffectiveCost: "1", ResourceId: "three" },
    { ...at(1, 0, 30), EffectiveCost: "-100", ResourceId: "month" },
    { ...at(27, 6, 0), EffectiveCost: "7", ResourceId: "instant" },
  ]);
  const { config, stores } = await openTestStores(t, tenant(folder, "spread: daily"));
  const result = await runOnce(runContext(stores), config, "acme");
  t.strictSame([result.status, result.errors], ["completed", []]);
  const rows = await runRows<Record<string, string>>(stores, "acme", published);
  const of = (id: string) =>
    rows.filter(({ resource_id }) => resource_id === id).map(({ day, cost }) => `${day?.slice(8)} ${cost}`);
  t.strictSame(of("three"), [
    "23 0.166666666666",
    "24 0.333333333334",
    "25 0.333333333333",
    "26 0.166666666667",
  ]);
  t.strictSame(of("month").slice(0, 3), ["22 -3.333333333333", "23 -3.333333333333", "24 -3.333333333334"]);
  t.strictSame(of("instant"), ["27 7"]);
});

t.test("a line that is no longer readable does not reduce the days that it was charged to", async (t) => {
  const folder = temporaryFolder(t);
  const bill = (long: string, second: string) =>
    write(folder, [
      { ...at(1), EffectiveCost: "1000" },
      { ...at(20, 0, 4), EffectiveCost: long, ResourceId: "long" },
      { ...at(20, 0, 4), EffectiveCost: "40", ResourceId: "other" },
      { ...at(25), EffectiveCost: "60", Tags: '{"a":"1"}' },
      { ...at(25), EffectiveCost: second, Tags: '{"a":"2"}' },
      { ...at(26), EffectiveCost: second === "50" ? "3" : "2" },
    ]);
  bill("80", "50");
  const { config, stores } = await openTestStores(t, tenant(folder, "spread: daily"));
  const run = async (force = false) => {
    const { status, errors } = await runOnce(runContext(stores), config, "acme", { force });
    return { status, errors: errors.map(({ message }) => message) };
  };
  const amounts = async () => {
    const query =
      "SELECT toString(day) AS day, toString(sum(total_cost)) AS cost FROM billing GROUP BY day ORDER BY day";
    const rows = await runRows<{ day: string; cost: string }>(stores, "acme", query);
    return rows.map(({ day, cost }) => `${day.slice(8)} ${cost}`);
  };
  t.strictSame(await run(), { status: "completed", errors: [] });
  t.strictSame(await amounts(), ["22 30", "23 30", "25 110", "26 3"]);
  bill("80 USD", "50 USD");
  t.strictSame(await run(), {
    status: "completed_with_errors",
    errors: [
      "cloud 2026-06: 2 lines have no readable date, currency or EffectiveCost, and are not charged",
      "the bill has lines that cannot be read for 3 days from 2026-06-22 to 2026-06-25: the bill that is published stays",
    ],
  });
  t.strictSame(await amounts(), ["22 30", "23 30", "25 110", "26 2"], "days without such a line go on");
  await run(true);
  t.strictSame(
    await amounts(),
    ["22 30", "23 30", "25 60", "26 2"],
    "by force the day has what can be read, unless a resource would be gone from it",
  );
});

t.test("a source without any bill is reported in a note of the run, which succeeds", async (t) => {
  const folder = temporaryFolder(t);
  const { config, stores } = await openTestStores(t, tenant(folder));
  const run = async () => {
    const { status, errors, notes, dates_calculated } = await runOnce(runContext(stores), config, "acme");
    return [status, dates_calculated, errors, notes.map((note) => note.replace(folder, "/bills"))];
  };
  t.strictSame(await run(), [
    "completed",
    0,
    [],
    [
      "cloud: no bill is there: /bills has no files. Check `location`, unless the first bill is still to come",
    ],
  ]);
  writeFileSync(join(folder, "bill.xml"), "");
  t.strictSame(await run(), [
    "completed",
    0,
    [],
    [
      "cloud: no bill is there: /bills has 1 file, none of which ends in .csv, .csv.gz, .csv.zst, .parquet. " +
        "Check `location`, unless the first bill is still to come",
    ],
  ]);
  write(folder, [{ ...at(23), EffectiveCost: "1" }]);
  t.strictSame(await run(), ["completed", 1, [], []]);
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  t.strictSame(await run(), [
    "completed",
    0,
    [],
    ["cloud: no bill is there any more: /bills has no files. The bills that were read before still count"],
  ]);
  t.strictSame((await reconciled(stores, "acme")).off, []);
});

t.test("a resource that the inventory cannot store is reported, and its days are final", async (t) => {
  const folder = temporaryFolder(t);
  write(folder, [
    { ...at(23), EffectiveCost: "3", ResourceId: "a\u0001b" },
    { ...at(24), EffectiveCost: "2" },
  ]);
  const { config, stores } = await openTestStores(t, tenant(folder));
  const { status, errors } = await runOnce(runContext(stores), config, "acme");
  t.strictSame(
    [status, errors],
    [
      "completed_with_errors",
      [
        {
          date: null,
          source: "gather",
          message: 'the resource "a?b" cannot be stored: its id has control characters',
        },
      ],
    ],
  );
  const charged =
    "SELECT toString(day) AS day, toString(amount_hi + amount_lo) AS amount, provisional FROM chargebacks ORDER BY day";
  t.strictSame(await runRows(stores, "acme", charged), [
    { day: "2026-06-23", amount: "3", provisional: false },
    { day: "2026-06-24", amount: "2", provisional: false },
  ]);
});

t.test(
  "with `cutoff_days: 0`, yesterday is charged as soon as its bill arrives; by default, the day before",
  async (t) => {
    const charged = async (cutoff: string) => {
      const folder = temporaryFolder(t);
      const { config, stores } = await openTestStores(t, tenant(folder, "", cutoff));
      const days = [1, 2, 3].map(daysBefore);
      write(
        folder,
        [runDay, ...days].map((day) => ({
          ChargePeriodStart: `${day}T00:00:00Z`,
          ChargePeriodEnd: `${addDays(day, 1)}T00:00:00Z`,
          EffectiveCost: "1",
        })),
      );
      await runOnce(runContext(stores), config, "acme");
      const rows = await runRows<{ day: string }>(
        stores,
        "acme",
        "SELECT toString(day) AS day FROM chargebacks ORDER BY day",
      );
      return rows.map(({ day }) => day);
    };
    t.strictSame(
      await charged("    cutoff_days: 0\n"),
      [3, 2, 1].map(daysBefore),
      "never today, which is not over",
    );
    t.strictSame(await charged(""), [3, 2].map(daysBefore));
  },
);

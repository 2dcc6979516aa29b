/**
 * Retention of a tenant whose bills are files: its days are dropped, and with the last of them the lines of the bill.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { addDays } from "../../src/common/days.js";
import { readDeliveries } from "../../src/query/state/deliveries.js";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder, testConfig } from "../stores.js";
import { chargedByDay, reconciled, runContext, runOnce, runRows } from "./runs.js";

const tenant = (folder: string, retention: number, spread = "none") => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    retention_days: ${retention}
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      spread: ${spread}
      sources:
        - name: cloud
          location: ${folder}
          limits: { settle_seconds: 0 }`;

const charge = (day: string, amount: string, days = 1) => ({
  EffectiveCost: amount,
  BilledCost: amount,
  ResourceId: `of-${day}`,
  ChargePeriodStart: `${day}T00:00:00Z`,
  ChargePeriodEnd: `${addDays(day, days)}T00:00:00Z`,
});

function write(folder: string, month: string, rows: Parameters<typeof csv>[0]) {
  mkdirSync(join(folder, month), { recursive: true });
  writeFileSync(join(folder, month, "bill.csv"), csv(rows));
}

async function openTenant(t: Parameters<typeof openTestStores>[0], spread?: string) {
  const folder = temporaryFolder(t);
  const { config, stores, folder: home } = await openTestStores(t, tenant(folder, 8, spread));
  /** Runs at noon of the day. `window` replaces the usual window. */
  const run = async (day: string, retention = 8, window?: { start: string; end: string }) => {
    const yaml = `data_dir: ${config.data_dir}\n${tenant(folder, retention, spread)}`;
    const { status, errors, notes, dates_calculated } = await runOnce(
      runContext(stores, { now: () => new Date(`${day}T12:00:00Z`) }),
      testConfig(yaml, home),
      "acme",
      window && { window },
    );
    return { status, errors, notes, calculated: dates_calculated };
  };
  /** Returns the bills like `GET …/deliveries`, oldest first. */
  const bills = async () =>
    (await readDeliveries(stores.postgres, "acme", { page: 1, page_size: 100 })).items.toReversed();
  const states = async () => (await bills()).map(({ billing_period, state }) => `${billing_period} ${state}`);
  /** Returns the partitions of bills on disk with their number of lines. */
  const onDisk = async () => {
    const parts = await runRows<{ rows: string }>(
      stores,
      "acme",
      "SELECT toString(sum(rows)) AS rows FROM system.parts WHERE database = currentDatabase() AND active AND table = 'focus_lines' GROUP BY partition ORDER BY toUInt64(partition)",
    );
    return parts.map(({ rows }) => Number(rows));
  };
  return { folder, stores, run, bills, states, onDisk };
}

const completed = { status: "completed", errors: [], notes: [], calculated: 0 };

t.test(
  "the lines of a bill are dropped with its last day, and come back with a longer retention",
  async (t) => {
    const { folder, stores, run, bills, states, onDisk } = await openTenant(t);
    write(folder, "2026-05", [charge("2026-05-28", "1.25"), charge("2026-05-29", "2.5")]);
    t.strictSame(await run("2026-06-03"), { ...completed, calculated: 2 });
    write(folder, "2026-06", [charge("2026-06-03", "4")]);
    const notKept = [
      "cloud: 1 line with 1.25 USD before 2026-05-29 is not kept: retention_days begins with that day",
    ];
    t.strictSame(
      await run("2026-06-06"),
      { ...completed, calculated: 1, notes: notKept },
      "one day of the bill was dropped",
    );
    const charged = ["2026-05-29 2.5", "2026-06-03 4"];
    t.strictSame(await chargedByDay(stores, "acme"), charged);
    t.strictSame(
      [await states(), await onDisk()],
      [
        ["2026-05 current", "2026-06 current"],
        [2, 1],
      ],
    );

    t.strictSame(await run("2026-06-07"), completed, "the other day is dropped, too");
    t.strictSame(await chargedByDay(stores, "acme"), ["2026-06-03 4"]);
    t.strictSame([await states(), await onDisk()], [["2026-05 expired", "2026-06 current"], [1]]);
    const [expired] = await bills();
    t.strictSame(
      [expired?.problem, expired?.lines, expired?.sums.map((sum) => sum.effective_cost), expired?.last_day],
      [
        "its last day is 2026-05-29, and retention_days keeps days from 2026-05-30 on",
        2,
        ["3.75"],
        "2026-05-29",
      ],
      "the record of the bill stays",
    );
    t.ok(expired?.expired_at);
    t.strictSame(await reconciled(stores, "acme"), { days: 1, billing: "4", off: [], staged: 0 });
    const before = await bills();
    t.strictSame(await run("2026-06-07"), completed);
    t.strictSame(await bills(), before, "nothing is read again");

    const window = { start: "2026-05-28", end: "2026-06-06" };
    t.strictSame(await run("2026-06-07", 20, window), { ...completed, calculated: 2 });
    t.strictSame(await chargedByDay(stores, "acme"), ["2026-05-28 1.25", ...charged]);
    t.strictSame(
      [await states(), await onDisk()],
      [
        ["2026-05 replaced", "2026-06 current", "2026-05 current"],
        [1, 2],
      ],
    );
    t.strictSame(await reconciled(stores, "acme"), { days: 3, billing: "7.75", off: [], staged: 0 });
  },
);

t.test("a charge of several days keeps its bill, and its days stay unchanged", async (t) => {
  const { folder, stores, run, states, onDisk } = await openTenant(t, "daily");
  write(folder, "2026-05", [charge("2026-05-28", "100", 20), charge("2026-05-28", "1")]);
  await run("2026-06-03");
  const notKept = (amount: string, day: string) => [
    `cloud: 2 lines with ${amount} USD before ${day} are not kept: retention_days begins with that day`,
  ];
  t.strictSame(await run("2026-06-12"), { ...completed, calculated: 7, notes: notKept("36", "2026-06-04") });
  t.strictSame(
    await chargedByDay(stores, "acme"),
    ["04", "05", "06", "07", "08", "09", "10"].map((day) => `2026-06-${day} 5`),
  );
  t.strictSame(await run("2026-06-24"), { ...completed, calculated: 1, notes: notKept("96", "2026-06-16") });
  t.strictSame(await chargedByDay(stores, "acme"), ["2026-06-16 5"]);
  t.strictSame([await states(), await onDisk()], [["2026-05 current"], [2]], "its last day is kept");
  t.strictSame((await reconciled(stores, "acme")).off, []);
  t.strictSame(await run("2026-06-25"), completed);
  t.strictSame(await chargedByDay(stores, "acme"), []);
  t.strictSame([await states(), await onDisk()], [["2026-05 expired"], []]);
});

/**
 * A store that has lost lines of bills, such as after a replacement or restore: they are read again, and no day is
 * published without them.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { addDays } from "../../src/common/days.js";
import { readDeliveries } from "../../src/query/state/deliveries.js";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder } from "../stores.js";
import { chargedByDay, reconciled, runContext, runOnce } from "./runs.js";

const charge = (day: string, amount: string) => ({
  EffectiveCost: amount,
  BilledCost: amount,
  ResourceId: `of-${day}`,
  ChargePeriodStart: `${day}T00:00:00Z`,
  ChargePeriodEnd: `${addDays(day, 1)}T00:00:00Z`,
});

t.test("lines that the store has lost are read again", async (t) => {
  const folder = temporaryFolder(t);
  const { config, stores } = await openTestStores(
    t,
    `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 20
    cutoff_days: 1
    retention_days: 60
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      sources:
        - name: cloud
          location: ${folder}
          limits: { settle_seconds: 0 }`,
  );
  for (const [month, rows] of [
    ["2026-05", [charge("2026-05-28", "1.25"), charge("2026-05-29", "2.5")]],
    ["2026-06", [charge("2026-06-03", "4")]],
  ] as const) {
    mkdirSync(join(folder, month), { recursive: true });
    writeFileSync(join(folder, month, "bill.csv"), csv(rows));
  }
  const run = async () => {
    const context = runContext(stores, { now: () => new Date("2026-06-06T12:00:00Z") });
    const { status, errors } = await runOnce(context, config, "acme", { forceGather: true });
    return { status, errors: errors.map(({ message }) => message) };
  };
  const bills = async () =>
    (await readDeliveries(stores.postgres, "acme", { page: 1, page_size: 100 })).items
      .toReversed()
      .map(({ delivery_id, billing_period, state }) => `${delivery_id} ${billing_period} ${state}`);
  const lose = async () => {
    const { client } = await stores.tenant("acme");
    await client.command({ query: "TRUNCATE TABLE focus_lines" });
    await client.command({ query: "TRUNCATE TABLE focus_text_sums" });
  };
  const charged = ["2026-05-28 1.25", "2026-05-29 2.5", "2026-06-03 4"];
  const whole = { days: 3, billing: "7.75", off: [], staged: 0 };
  const completed = { status: "completed", errors: [] };

  t.strictSame(await run(), completed);
  t.strictSame(await chargedByDay(stores, "acme"), charged);
  t.strictSame(await bills(), ["1 2026-05 current", "2 2026-06 current"]);

  await t.test("lost lines are read again while the source has them", async (t) => {
    await lose();
    t.strictSame(await run(), completed);
    t.strictSame(await bills(), [
      "1 2026-05 replaced",
      "2 2026-06 replaced",
      "3 2026-05 current",
      "4 2026-06 current",
    ]);
    t.strictSame(await chargedByDay(stores, "acme"), charged);
    t.strictSame(await reconciled(stores, "acme"), whole);
    const before = await bills();
    t.strictSame(await run(), completed);
    t.strictSame(await bills(), before, "the lines are read once");
  });

  await t.test("days with lost lines stay as published if the source no longer has them", async (t) => {
    await lose();
    rmSync(join(folder, "2026-05"), { recursive: true });
    t.strictSame(await run(), {
      status: "completed_with_errors",
      errors: [
        "cloud 2026-05: the store has lost its lines, and the source does not have the bill any more",
        "the bill has lines that cannot be read for 2 days from 2026-05-28 to 2026-05-29: the bill that is published stays",
        "cloud: delivery 3 holds 2 lines with 3.75 USD, and 0 lines with 0 USD are accounted for",
      ],
    });
    t.strictSame(await chargedByDay(stores, "acme"), charged);
    t.strictSame(await reconciled(stores, "acme"), whole);
  });
});

/** A bill that vanishes: published days stay until the upstream confirms it in the next run. */
import t from "tap";
import fc from "../property.js";
import { openTestStores } from "../stores.js";
import {
  chargedOn,
  daysBefore,
  reconciled,
  runContext,
  runOnce,
  shortTenants,
  trackingDate,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const ages = [2, 3, 4, 5, 6, 7, 8];
const HELD = "the bill has lost most of its amount for";
const STAYS = "the bill that is published stays until the next run gets the same bill";

t.test("a bill that vanishes is verified before it is published", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"]));
  const { upstream, ecosystems } = scriptedUpstream();
  const context = runContext(stores, { ecosystems });
  const run = async (changes = {}) => {
    const { status, errors, dates_calculated } = await runOnce(context, config, "acme", changes);
    return { status, errors: errors.map(({ message }) => message), dates_calculated };
  };
  const charged = (age: number) => chargedOn(stores, "acme", daysBefore(age));
  const good = (dates_calculated: number) => ({ status: "completed", errors: [], dates_calculated });
  const whole = ["ann: 5", "bob: 5"];
  const fill = () => {
    for (const age of ages) upstream.bill.set(daysBefore(age), { "r-1": "10" });
  };

  t.beforeEach(async () => {
    fill();
    await run({ force: true });
  });

  await t.test(
    "a window without lines keeps the published days until the next run confirms it",
    async (t) => {
      upstream.bill.clear();
      t.strictSame(await run(), {
        status: "failed",
        errors: [`${HELD} 7 days from ${daysBefore(8)} to ${daysBefore(2)}: ${STAYS}`],
        dates_calculated: 0,
      });
      t.strictSame(await charged(4), whole);
      t.equal((await trackingDate(stores, "acme", daysBefore(4))).doubted_bill, "0 lines, 0 USD");
      const { notes } = await runOnce(context, config, "acme");
      t.strictSame(notes, [
        "the bill of 7 published days has lost most of its amount, and a second run got the same bill: it is published",
      ]);
      t.strictSame(await charged(4), []);
      t.equal((await reconciled(stores, "acme")).days, 0);
    },
  );

  await t.test("a bill that is back in the next run keeps its days", async (t) => {
    upstream.bill.clear();
    await run();
    fill();
    t.strictSame(await run(), good(0));
    t.equal((await trackingDate(stores, "acme", daysBefore(4))).doubted_bill, null);
    upstream.bill.clear();
    t.equal((await run()).status, "failed", "the next suspicious bill has to be confirmed again");
  });

  await t.test(
    "only a day that lost more than half of its bill is kept, and a different bill must be confirmed again",
    async (t) => {
      upstream.bill.set(daysBefore(4), { "r-1": "4.99" });
      upstream.bill.set(daysBefore(5), { "r-1": "5" });
      upstream.bill.set(daysBefore(6), { "r-1": "-10" });
      const kept = { status: "completed_with_errors", errors: [`${HELD} ${daysBefore(4)}: ${STAYS}`] };
      t.strictSame(await run(), { ...kept, dates_calculated: 2 });
      t.strictSame(await charged(5), ["ann: 2.5", "bob: 2.5"], "half is not most");
      t.strictSame(await charged(6), ["ann: -5", "bob: -5"], "a refund is not a loss");
      upstream.bill.set(daysBefore(4), { "r-1": "4" });
      t.strictSame(await run(), { ...kept, dates_calculated: 0 });
      t.strictSame(await run(), good(1));
      t.strictSame(await charged(4), ["ann: 2", "bob: 2"]);
    },
  );

  await t.test("a forced run accepts the smaller bill at once", async (t) => {
    upstream.bill.delete(daysBefore(4));
    t.equal((await run({ force: true })).status, "completed");
    t.strictSame(await charged(4), []);
  });

  await t.test("any remaining share of a day's amount is accepted after at most one more run", async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2000 }), async (cents) => {
        upstream.bill.set(daysBefore(4), { "r-1": "10" });
        await run({ force: true });
        upstream.bill.set(daysBefore(4), { "r-1": (cents / 100).toFixed(2) });
        const first = await run();
        t.equal(first.status, cents < 500 ? "completed_with_errors" : "completed", `${cents}`);
        t.strictSame(await run(), good(first.status === "completed" ? 0 : 1));
        t.equal((await reconciled(stores, "acme")).off.length, 0);
      }),
      { numRuns: 4, examples: [[499], [500], [0]] },
    );
  });
});

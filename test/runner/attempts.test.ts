import t from "tap";
import { notifyAll } from "../../src/runner/run-events.js";
import { usualLimits } from "../../src/runner/tenant-run.js";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import {
  chargedOn,
  daysBefore,
  reconciled,
  recordingLogger,
  recordingObserver,
  runContext,
  runOnce,
  runRows,
  shortTenants,
  trackingDate,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const tenants = ["refused", "damaged"];
const settings = ["allocation_retry_limit: 3"];
const [heavy, light, other] = [daysBefore(4), daysBefore(3), daysBefore(2)];

t.test("days that cannot be calculated are tried a limited number of times", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(tenants, settings));

  await t.test(
    "an allocation that the engine refuses is tried a limited number of times, then goes to UNALLOCATED",
    async (t) => {
      const { upstream, ecosystems } = scriptedUpstream();
      for (const day of [heavy, light, other]) upstream.bill.set(day, { "r-1": "10" });
      const context = runContext(stores, { ecosystems });
      await runOnce(context, config, "refused");
      // A line that 200,000 identities share, and memory for lines that a few share.
      upstream.bill.set(heavy, { "metered-1": "0.333333333333", "r-2": "7" });
      upstream.bill.set(light, { "r-1": "20" });
      upstream.bill.set(other, { "r-1": "30" });
      upstream.crowd = 200_000;
      const tight = {
        ...context,
        limits: { ...usualLimits, maxMemoryBytes: 30e6 },
      };

      const first = await runOnce(tight, config, "refused");
      t.equal(first.status, "completed_with_errors");
      t.same(
        first.errors.map((error) => error.date),
        [heavy],
        "only the heavy day failed",
      );
      t.match(first.errors[0]?.message, /^attempt 1 of 3: .*memory/i);
      t.equal(first.dates_calculated, 2, "the other days of its batch were published");
      holds(t, await trackingDate(stores, "refused", heavy), {
        allocation_attempts: 1,
        chargeback_calculated: true,
      });
      t.same(await chargedOn(stores, "refused", heavy), ["ann: 5", "bob: 5"], "what was published stays");

      const second = await runOnce(tight, config, "refused");
      t.match(second.errors[0]?.message, /^attempt 2 of 3/, "the number of attempts is kept across gathers");
      const third = await runOnce(tight, config, "refused");
      t.match(third.errors[0]?.message, /^attempt 3 of 3/);
      t.equal(third.dates_calculated, 1);
      const expected = ["UNALLOCATED: 0.333333333333 allocation_failed", "UNALLOCATED: 7 allocation_failed"];
      t.same(await chargedOn(stores, "refused", heavy), expected);
      holds(t, await trackingDate(stores, "refused", heavy), { allocation_attempts: 0, staged_hash: null });
      holds(t, await runOnce(tight, config, "refused"), { status: "completed", dates_calculated: 0 });
      holds(t, await reconciled(stores, "refused"), { off: [], staged: 0 });

      upstream.bill.set(heavy, { "r-1": "5" });
      upstream.members = { ann: 1 };
      await runOnce(context, config, "refused");
      t.same(await chargedOn(stores, "refused", heavy), ["ann: 5"], "new input starts the attempts again");
    },
  );

  await t.test("a day that does not conserve is never published", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(heavy, { "r-1": "10" });
    upstream.bill.set(light, { "metered-1": "10" });
    const { logger, lines } = recordingLogger();
    const { observer } = recordingObserver();
    const outcomes: number[] = [];
    const finished = {
      finished: (_: string, outcome: { conservationFailures: number }) =>
        outcomes.push(outcome.conservationFailures),
    };
    const context = runContext(stores, { ecosystems, logger, observer: notifyAll([observer, finished]) });
    await runOnce(context, config, "damaged");
    // A tenth of every shared line is lost, as with a rule that is damaged in the store.
    const { client } = await stores.tenant("damaged");
    await client.command({
      query: "ALTER TABLE allocation_rules UPDATE ratio_to = 900000 WHERE product_type = 'SHARED'",
      clickhouse_settings: { mutations_sync: "1" },
    });
    upstream.bill.set(heavy, { "r-1": "20" });
    upstream.bill.set(light, { "metered-1": "20" });
    const result = await runOnce(context, config, "damaged");
    holds(t, result, { status: "completed_with_errors", dates_calculated: 1 });
    holds(t, result.errors, [
      {
        date: heavy,
        message: /conservation check failed: 1 of 1 lines differ, billed 20 USD, charged 18 USD/,
      },
    ]);
    t.same(await chargedOn(stores, "damaged", heavy), ["ann: 5", "bob: 5"], "the old day stays");
    t.same(await chargedOn(stores, "damaged", light), ["ann: 5", "bob: 15"], "the others are published");
    t.same(outcomes, [0, 1]);
    t.same(
      lines.filter((line) => line.level === 60).map((line) => [line.msg, line.date]),
      [["conservation check failed: the day is not published", heavy]],
    );
    holds(t, await trackingDate(stores, "damaged", heavy), { allocation_attempts: 1 });
    const [sum] = await runRows<{ n: string }>(
      stores,
      "damaged",
      "SELECT toString(sum(amount)) AS n FROM chargebacks",
    );
    t.equal(sum?.n, "30");
  });
});

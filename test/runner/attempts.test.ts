import t from "tap";
import { observeAll } from "../../src/runner/observe.js";
import { usualLimits } from "../../src/runner/tenant-run.js";
import { openTestStores } from "../stores.js";
import {
  chargedOn,
  daysBefore,
  reconciled,
  recordingLogger,
  recordingObserver,
  rowsOf,
  runContext,
  runOnce,
  shortTenants,
  trackingDate,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const tenants = ["refused", "outage", "mended", "damaged"];
const settings = ["allocation_retry_limit: 3"];
const [heavy, light, other] = [daysBefore(4), daysBefore(3), daysBefore(2)];

t.test("days that cannot be calculated", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(tenants, settings));

  await t.test(
    "an allocation that the engine refuses is tried so often, then goes to UNALLOCATED",
    async (t) => {
      const { upstream, ecosystems } = scriptedUpstream();
      for (const day of [heavy, light, other]) upstream.bill.set(day, { "r-1": "10" });
      const context = runContext(stores, { ecosystems });
      await runOnce(context, config, "refused");
      // A line that 200,000 share, and memory for lines that a few share.
      upstream.bill.set(heavy, { "metered-1": "0.333333333333", "r-2": "7" });
      upstream.bill.set(light, { "r-1": "20" });
      upstream.bill.set(other, { "r-1": "30" });
      upstream.crowd = 200_000;
      const tight = {
        ...context,
        limits: { ...usualLimits, maxMemoryBytes: 30e6 },
      };

      const first = await runOnce(tight, config, "refused");
      t.equal(first.status, "failed");
      t.same(
        first.errors.map((error) => error.date),
        [heavy],
        "only the heavy day failed",
      );
      t.match(first.errors[0]?.message, /^attempt 1 of 3: .*memory/i);
      t.equal(first.dates_calculated, 2, "the other days of its batch were published");
      t.match(await trackingDate(stores, "refused", heavy), {
        allocation_attempts: 1,
        chargeback_calculated: true,
      });
      t.same(await chargedOn(stores, "refused", heavy), ["ann: 5", "bob: 5"], "what was published stays");

      const second = await runOnce(tight, config, "refused");
      t.match(second.errors[0]?.message, /^attempt 2 of 3/, "kept across gathers");
      const third = await runOnce(tight, config, "refused");
      t.match(third.errors[0]?.message, /^attempt 3 of 3/);
      t.equal(third.dates_calculated, 1);
      const expected = ["UNALLOCATED: 0.333333333333 allocation_failed", "UNALLOCATED: 7 allocation_failed"];
      t.same(await chargedOn(stores, "refused", heavy), expected);
      t.match(await trackingDate(stores, "refused", heavy), { allocation_attempts: 0, staged_hash: null });
      t.match(await runOnce(tight, config, "refused"), { status: "completed", dates_calculated: 0 });
      t.match(await reconciled(stores, "refused"), { off: [], staged: 0 });

      upstream.bill.set(heavy, { "r-1": "3" });
      upstream.members = { ann: 1 };
      await runOnce(context, config, "refused");
      t.same(await chargedOn(stores, "refused", heavy), ["ann: 3"], "new input starts anew");
    },
  );

  await t.test("a metrics outage is waited for, then falls back", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(heavy, { "metered-1": "8" });
    upstream.bill.set(light, { "metered-1": "8" });
    upstream.gaps.add(heavy);
    const context = runContext(stores, { ecosystems });
    for (const attempt of [1, 2]) {
      const result = await runOnce(context, config, "outage");
      t.match(result.errors, [
        { date: heavy, message: new RegExp(`attempt ${attempt} of 3, the day waits`) },
      ]);
      t.same(await chargedOn(stores, "outage", heavy), []);
      t.match(await trackingDate(stores, "outage", heavy), { metrics_attempts: attempt });
    }
    t.same(await chargedOn(stores, "outage", light), ["ann: 2", "bob: 6"], "healthy days do not wait");
    t.match(await runOnce(context, config, "outage"), { status: "completed", dates_calculated: 1 });
    t.same(await chargedOn(stores, "outage", heavy), ["UNALLOCATED: 8 metrics_fetch_failed"]);
    t.match(
      await runOnce(context, config, "outage"),
      { dates_calculated: 0 },
      "and it stays so while it lasts",
    );
    upstream.gaps.clear();
    await runOnce(context, config, "outage");
    t.same(await chargedOn(stores, "outage", heavy), ["ann: 2", "bob: 6"], "until the metrics are back");
  });

  await t.test("an outage does not undo what was measured before", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(heavy, { "metered-1": "8" });
    upstream.bill.set(light, { "metered-1": "8" });
    const context = runContext(stores, { ecosystems });
    await runOnce(context, config, "mended");
    upstream.gaps.add(heavy).add(light);
    const outage = await runOnce(context, config, "mended");
    t.match(outage, { status: "failed", dates_calculated: 0 });
    t.match(outage.errors, [{ message: /usage metrics could not be fetched for 2 days .* stays$/ }]);
    t.same(await chargedOn(stores, "mended", heavy), ["ann: 2", "bob: 6"]);

    upstream.bill.set(heavy, { "metered-1": "4" });
    t.match(await runOnce(context, config, "mended"), { dates_calculated: 1 });
    t.same(await chargedOn(stores, "mended", heavy), ["ann: 1", "bob: 3"], "a revised bill is split by it");
    t.match(await trackingDate(stores, "mended", heavy), { metrics_attempts: 0, has_usage_gaps: false });

    upstream.bill.set(heavy, { "metered-1": "4", "metered-2": "4" });
    const unmeasured = await runOnce(context, config, "mended");
    t.match(
      unmeasured.errors.filter((error) => error.date !== null),
      [{ date: heavy, message: /attempt 1 of 3, the day waits/ }],
      "of a resource that is new to the day nothing was measured",
    );
    t.same(
      await chargedOn(stores, "mended", heavy),
      ["ann: 1", "bob: 3"],
      "the published day stays meanwhile",
    );
    upstream.gaps.clear();
    await runOnce(context, config, "mended");
    t.same(await chargedOn(stores, "mended", heavy), ["ann: 1", "bob: 3", "ann: 1", "bob: 3"]);
    t.match(await reconciled(stores, "mended"), { off: [], staged: 0 });
  });

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
    const context = runContext(stores, { ecosystems, logger, observer: observeAll([observer, finished]) });
    await runOnce(context, config, "damaged");
    // A tenth of every shared line gets lost, as it would by a rule that is damaged in the store.
    const { client } = await stores.tenant("damaged");
    await client.command({
      query: "ALTER TABLE allocation_rules UPDATE ratio_to = 900000 WHERE product_type = 'SHARED'",
      clickhouse_settings: { mutations_sync: "1" },
    });
    upstream.bill.set(heavy, { "r-1": "20" });
    upstream.bill.set(light, { "metered-1": "20" });
    const result = await runOnce(context, config, "damaged");
    t.match(result, { status: "failed", dates_calculated: 1 });
    t.match(result.errors, [
      { date: heavy, message: /conservation check failed: 1 of 1 lines differ, billed 20, charged 18/ },
    ]);
    t.same(await chargedOn(stores, "damaged", heavy), ["ann: 5", "bob: 5"], "the old day stays");
    t.same(await chargedOn(stores, "damaged", light), ["ann: 5", "bob: 15"], "the others are published");
    t.same(outcomes, [0, 1]);
    t.same(
      lines.filter((line) => line.level === 60).map((line) => [line.msg, line.date]),
      [["conservation check failed: the day is not published", heavy]],
    );
    t.match(await trackingDate(stores, "damaged", heavy), { allocation_attempts: 1 });
    const [sum] = await rowsOf<{ n: string }>(
      stores,
      "damaged",
      "SELECT toString(sum(amount)) AS n FROM chargebacks",
    );
    t.equal(sum?.n, "30");
  });
});

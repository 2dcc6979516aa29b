/** A tenant goes through many changes of its upstream, run after run on the same stores. */
import t from "tap";
import { runStatement } from "../../src/postgres/statement.js";
import { liftSuspensions } from "../../src/runner/sql/tenants.js";
import { startTenantRun } from "../../src/runner/tenant-run.js";
import { holds } from "../holds.js";
import {
  chargedOn,
  daysBefore,
  reconciled,
  runContext,
  runOnce,
  shortTenants,
  tenantOf,
  trackingDate,
} from "../runner/runs.js";
import { evenRule, scriptedUpstream, usageRule } from "../runner/scripted-upstream.js";
import { openTestStores } from "../stores.js";

const settings = ["gather_failure_threshold: 2", "allocation_retry_limit: 2"];
const [d2, d3, d4, d5, d6] = [2, 3, 4, 5, 6].map(daysBefore) as [string, string, string, string, string];

t.test("every day adds up after each change of the upstream", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"], settings));
  const { upstream, ecosystems } = scriptedUpstream({ rules: [evenRule] });
  const context = runContext(stores, { ecosystems });
  const run = () => runOnce(context, config, "acme");
  const charged = (day: string) => chargedOn(stores, "acme", day);
  const active = async () => {
    const found = await stores.postgres.query(
      "SELECT identity_id FROM identities WHERE deleted_at IS NULL ORDER BY 1",
    );
    return found.rows.map(({ identity_id }) => identity_id);
  };
  const adds = async (days: number) =>
    holds(t, await reconciled(stores, "acme"), { days, off: [], staged: 0 });

  await t.test("three days are published, one with a product without a rule", async (t) => {
    upstream.bill
      .set(d2, { "r-1": "10" })
      .set(d3, { "r-1": "10.00001" })
      .set(d4, { "r-1": "1", "metered-1": "7" });
    holds(t, await run(), { status: "completed", dates_gathered: 3, dates_calculated: 3 });
    t.same(await charged(d3), ["ann: 5.00001", "bob: 5"]);
    t.same(await charged(d4), ["UNALLOCATED: 7 no_allocator_for_product_type", "ann: 0.5", "bob: 0.5"]);
    await adds(3);
  });

  await t.test("the same days are published at twice the cost", async (t) => {
    upstream.bill
      .set(d2, { "r-1": "20" })
      .set(d3, { "r-1": "20.00002" })
      .set(d4, { "r-1": "2", "metered-1": "14" });
    holds(t, await run(), { status: "completed", dates_calculated: 3 });
    t.same(await charged(d2), ["ann: 10", "bob: 10"]);
    await adds(3);
  });

  await t.test("a new rule applies, and a day without metrics is published", async (t) => {
    upstream.rules = [evenRule, usageRule];
    upstream.bill.set(d5, { "metered-1": "4" });
    upstream.gaps.add(d5);
    const away = await run();
    t.equal(away.dates_calculated, 4);
    t.same(
      away.errors.map(({ date }) => date),
      [d5],
    );
    t.same(await charged(d4), ["ann: 3.5", "bob: 10.5", "ann: 1", "bob: 1"]);
    holds(t, await trackingDate(stores, "acme", d5), {
      billing_gathered: true,
      chargeback_calculated: true,
      provisional: true,
    });
    t.same(await charged(d5), ["UNALLOCATED: 4 metrics_fetch_failed"]);
    upstream.gaps.clear();
    holds(t, await run(), { status: "completed", dates_calculated: 1 });
    t.same(await charged(d5), ["ann: 1", "bob: 3"]);
    await adds(4);
  });

  await t.test("without identities in the inventory, none is deleted and no day waits", async (t) => {
    upstream.members = {};
    upstream.bill.set(d6, { "r-1": "3" });
    holds(t, await run(), { status: "completed" });
    t.same(await charged(d6), ["UNALLOCATED: 3 no_identities_located"]);
    t.same(await active(), ["UNALLOCATED", "ann", "bob"]);
    await adds(5);
  });

  await t.test("another identity and then the first two again get the costs", async (t) => {
    upstream.members = { eve: 1 };
    holds(t, await run(), { status: "completed" });
    t.same(await active(), ["UNALLOCATED", "eve"]);
    t.same(await charged(d6), ["eve: 3"]);
    upstream.members = { ann: 1, bob: 3 };
    holds(t, await run(), { status: "completed" });
    t.same(await active(), ["UNALLOCATED", "ann", "bob"]);
    t.same(await charged(d6), ["ann: 1.5", "bob: 1.5"]);
    t.same(await charged(d5), ["ann: 1", "bob: 3"]);
    await adds(5);
  });

  await t.test("late lines on two published days are charged", async (t) => {
    for (const day of [d5, d6]) upstream.bill.set(day, { ...upstream.bill.get(day), "r-9": "1" });
    holds(t, await run(), { status: "completed", dates_gathered: 5, dates_calculated: 2 });
    t.same(await charged(d6), ["ann: 1.5", "bob: 1.5", "ann: 0.5", "bob: 0.5"]);
    await adds(5);
  });

  await t.test(
    "a bill that fails once is retried, and a bill that fails too often is reported",
    async (t) => {
      const fail = async () => {
        throw new Error("the upstream returned 503");
      };
      const mend = async () => undefined;
      for (const onWindow of [fail, mend, fail, fail]) {
        upstream.onWindow = onWindow;
        holds(t, await run(), { status: onWindow === fail ? "failed" : "completed", dates_calculated: 0 });
      }
      upstream.onWindow = mend;
      const { signal } = new AbortController();
      await t.rejects(startTenantRun(context, tenantOf(config, "acme"), { trigger: "api", signal }), {
        name: "TenantSuspendedError",
        cause: /^2 consecutive gather failures/,
      });
      await adds(5);
      await runStatement(stores.postgres, liftSuspensions(["acme"]));
      holds(t, await run(), { status: "completed", dates_gathered: 5, dates_calculated: 0 });
      await adds(5);
    },
  );
});

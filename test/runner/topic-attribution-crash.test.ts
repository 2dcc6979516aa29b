import t, { type Test } from "tap";
import type { Publication } from "../../src/allocate/allocation-job.js";
import { recordIntent } from "../../src/allocate/publish.js";
import { swapDays } from "../../src/allocate/swap-days.js";
import { reconcileAttributions } from "../../src/query/state/reconcile.js";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import { chargedOn, daysBefore, reconciled, runContext, runOnce, runRows, shortTenants } from "./runs.js";
import { attributedOn, attributionDate, clusterWithTopics, topicUpstream } from "./topic-upstream.js";

/** The bill of one day changes, the topics of both. */
const [changed, kept] = [daysBefore(4), daysBefore(3)];
const both = { replaced: [changed, kept], withdrawn: [] };

t.test("an interrupted publish of attributions is completed or discarded", async (t) => {
  const names = ["before_swap", "half_swapped", "after_swap", "staging_gone", "bill_gone"];
  const opened = await openTestStores(t, shortTenants(names));
  const { stores } = opened;
  const { postgres } = stores;
  const config = clusterWithTopics(opened.config);

  /** Brings a tenant to the state after the intent to publish its new days, and dies there. */
  const dieAfterIntent = async (tenantName: string) => {
    const { upstream, ecosystems } = topicUpstream();
    for (const day of [changed, kept]) upstream.bill.set(day, { "metered-1": "8" });
    const context = runContext(stores, { ecosystems });
    await runOnce(context, config, tenantName);
    upstream.bill.set(changed, { "metered-1": "4" });
    upstream.topics = { orders: 1, users: 1 };
    // The run that dies does everything up to the intent.
    await postgres.query(`CREATE OR REPLACE FUNCTION stop_publishing() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the process dies here'; END $$`);
    for (const table of ["tracking_dates", "topic_attribution_dates"])
      await postgres.query(`CREATE TRIGGER stop_publishing BEFORE UPDATE OF publishing_hash ON ${table}
        FOR EACH ROW WHEN (NEW.publishing_hash IS NOT NULL AND NEW.tenant_name = '${tenantName}') EXECUTE FUNCTION stop_publishing()`);
    await runOnce(context, config, tenantName);
    for (const table of ["tracking_dates", "topic_attribution_dates"])
      await postgres.query(`DROP TRIGGER stop_publishing ON ${table}`);
    await postgres.query("UPDATE tracking_dates SET allocation_attempts = 0 WHERE tenant_name = $1", [
      tenantName,
    ]);
    await lease(tenantName, "1 minute");
    const { client } = await stores.tenant(tenantName);
    const publication: Publication = {
      client,
      postgres,
      backupLock: stores.backupLock,
      tenantName,
      epoch: 2,
      signal: new AbortController().signal,
    };
    await recordIntent(publication, [changed], both);
    t.same(
      await attributedOn(stores, tenantName, changed),
      ["orders: 2", "users: 6"],
      "the old day is visible",
    );
    // The following runs must work without a gather.
    upstream.onWindow = async () => {
      throw new Error("no gather is needed for it");
    };
    return { upstream, context, publication };
  };
  const lease = async (tenantName: string, runsFor: string) =>
    void (await postgres.query("UPDATE leases SET expires_at = now() + $2::interval WHERE tenant_name = $1", [
      tenantName,
      runsFor,
    ]));
  const isRolledForward = async (t: Test, tenantName: string) => {
    t.same(await chargedOn(stores, tenantName, changed), ["ann: 1", "bob: 3"]);
    t.same(await attributedOn(stores, tenantName, changed), ["orders: 2", "users: 2"]);
    t.same(await attributedOn(stores, tenantName, kept), ["orders: 4", "users: 4"]);
    for (const day of [changed, kept])
      holds(t, await attributionDate(stores, tenantName, day), {
        publishing_hash: null,
        staged_hash: null,
        published_hash: String,
        attribution_rows: 2,
      });
    holds(t, await reconciled(stores, tenantName), { days: 2, off: [], staged: 0 });
    const { client } = await stores.tenant(tenantName);
    const { totals } = await reconcileAttributions(client, new AbortController().signal);
    holds(t, totals, [{ currency: "USD", billing: "12", difference: "0", lines_off: "0" }]);
  };

  for (const [name, swap] of [
    ["before_swap", async () => undefined],
    ["half_swapped", async (publication: Publication) => await swapDays(publication, [changed])],
    ["after_swap", async (publication: Publication) => await swapDays(publication, [changed], both)],
  ] as const) {
    await t.test(
      `a publish that is cut off at ${name} is rolled forward by the next run, both ledgers together`,
      async (t) => {
        const { context, publication } = await dieAfterIntent(name);
        await swap(publication);
        await lease(name, "0");
        await runOnce(context, config, name);
        await isRolledForward(t, name);
      },
    );
  }

  await t.test(
    "an interrupted publish whose attributions are lost removes the old ones with the old bill",
    async (t) => {
      const { upstream, context, publication } = await dieAfterIntent("staging_gone");
      await publication.client.command({ query: "DROP TABLE staged_topic_attributions_e2 SYNC" });
      await lease("staging_gone", "0");
      await runOnce(context, config, "staging_gone");
      t.same(await chargedOn(stores, "staging_gone", changed), ["ann: 1", "bob: 3"]);
      t.same(await attributedOn(stores, "staging_gone", changed), []);
      t.same(
        await attributedOn(stores, "staging_gone", kept),
        ["orders: 2", "users: 6"],
        "a day with the same bill keeps its attributions",
      );
      holds(t, await attributionDate(stores, "staging_gone", changed), {
        published_hash: null,
        publishing_hash: null,
      });
      upstream.onWindow = async () => undefined;
      await runOnce(context, config, "staging_gone");
      await isRolledForward(t, "staging_gone");
      const usage = await runRows<{ n: string }>(
        stores,
        "staging_gone",
        "SELECT toString(count()) AS n FROM topic_usage",
      );
      t.same(usage, [{ n: "8" }], "the store has two metrics of two topics on two days");
    },
  );

  await t.test(
    "an interrupted publish whose bill of a day is lost drops the attributions of the day",
    async (t) => {
      const { upstream, context, publication } = await dieAfterIntent("bill_gone");
      await publication.client.command({ query: "DROP TABLE staged_chargebacks_e2 SYNC" });
      await lease("bill_gone", "0");
      await runOnce(context, config, "bill_gone");
      t.same(await chargedOn(stores, "bill_gone", changed), ["ann: 2", "bob: 6"], "the old bill stays");
      t.same(
        await attributedOn(stores, "bill_gone", changed),
        ["orders: 2", "users: 6"],
        "the old attributions add up to it",
      );
      t.same(
        await attributedOn(stores, "bill_gone", kept),
        ["orders: 4", "users: 4"],
        "the other day is published",
      );
      upstream.onWindow = async () => undefined;
      await runOnce(context, config, "bill_gone");
      await isRolledForward(t, "bill_gone");
    },
  );
});

import t, { type Test } from "tap";
import type { Publication } from "../../src/allocate/allocation-job.js";
import { recordIntent } from "../../src/allocate/publish.js";
import { swapDays } from "../../src/allocate/swap-days.js";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import {
  chargedOn,
  daysBefore,
  lossSaidBefore,
  reconciled,
  recordingLogger,
  runContext,
  runOnce,
  runRecords,
  runRows,
  shortTenants,
  trackingDate,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const [changed, vanished, kept] = [daysBefore(4), daysBefore(3), daysBefore(2)];

t.test("an interrupted publish is completed or discarded", async (t) => {
  const names = ["before_swap", "after_swap", "staging_gone", "input_gone", "store_refuses", "engine_dies"];
  const { config, stores } = await openTestStores(t, shortTenants(names));
  const { postgres } = stores;

  /** Brings a tenant to the state after the intent to publish its new days, and dies there. */
  const dieAfterIntent = async (tenantName: string) => {
    const { upstream, ecosystems } = scriptedUpstream();
    for (const day of [changed, vanished, kept]) upstream.bill.set(day, { "metered-1": "8" });
    const { logger, lines } = recordingLogger();
    const context = runContext(stores, { ecosystems, logger });
    await runOnce(context, config, tenantName);
    upstream.bill.set(changed, { "r-1": "30" });
    upstream.bill.delete(vanished);
    await lossSaidBefore(stores, tenantName);
    // The run that dies does everything up to the intent, which its lost lease prevents.
    const publication: Publication = {
      client: (await stores.tenant(tenantName)).client,
      postgres,
      backupLock: stores.backupLock,
      tenantName,
      epoch: 2,
      signal: new AbortController().signal,
    };
    await postgres.query(`CREATE OR REPLACE FUNCTION stop_publishing() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the process dies here'; END $$`);
    await postgres.query(`CREATE TRIGGER stop_publishing BEFORE UPDATE OF publishing_hash ON tracking_dates
      FOR EACH ROW WHEN (NEW.publishing_hash IS NOT NULL AND NEW.tenant_name = '${tenantName}') EXECUTE FUNCTION stop_publishing()`);
    await runOnce(context, config, tenantName);
    await postgres.query("DROP TRIGGER stop_publishing ON tracking_dates");
    await postgres.query("UPDATE tracking_dates SET allocation_attempts = 0 WHERE tenant_name = $1", [
      tenantName,
    ]);
    await postgres.query(
      "UPDATE leases SET expires_at = now() + interval '1 minute' WHERE tenant_name = $1",
      [tenantName],
    );
    await recordIntent(publication, [changed, vanished]);
    return { upstream, context, lines, publication };
  };
  const dead = async (tenantName: string) => {
    await postgres.query("UPDATE leases SET expires_at = now() WHERE tenant_name = $1", [tenantName]);
    await postgres.query(
      "UPDATE runs SET status = 'running', ended_at = NULL, errors = '[]' WHERE tenant_name = $1 AND epoch = 2",
      [tenantName],
    );
  };
  const isRolledForward = async (t: Test, tenantName: string) => {
    t.same(await chargedOn(stores, tenantName, changed), ["ann: 15", "bob: 15"]);
    t.same(await chargedOn(stores, tenantName, vanished), []);
    t.same(await chargedOn(stores, tenantName, kept), ["ann: 2", "bob: 6"]);
    holds(t, await trackingDate(stores, tenantName, changed), {
      publishing_hash: null,
      staged_hash: null,
      chargeback_rows: 2,
    });
    holds(t, await reconciled(stores, tenantName), { days: 2, off: [], staged: 0 });
    const usage = await runRows<{ day: string }>(
      stores,
      tenantName,
      "SELECT DISTINCT toString(day) AS day FROM usage",
    );
    t.same(usage, [{ day: kept }], "usage of days without any has gone");
  };

  await t.test(
    "a publish that is cut off between intent and swap is rolled forward by the next run",
    async (t) => {
      const { upstream, context, lines } = await dieAfterIntent("before_swap");
      t.same(
        await chargedOn(stores, "before_swap", changed),
        ["ann: 2", "bob: 6"],
        "until then the old day is there",
      );
      await dead("before_swap");
      upstream.onWindow = async () => {
        throw new Error("no gather is needed for it");
      };
      await runOnce(context, config, "before_swap");
      await isRolledForward(t, "before_swap");
      holds(
        t,
        lines.find((line) => line.msg === "finished an interrupted publish"),
        { days: [changed, vanished] },
      );
      holds(
        t,
        (await runRecords(stores, "before_swap")).map((run) => [run.status, run.errors[0]?.message]),
        [
          ["completed", undefined],
          ["failed", /orphaned/],
          ["failed", /no gather is needed/],
        ],
      );
    },
  );

  await t.test(
    "a publish that is cut off between swap and result is rolled forward by the next run",
    async (t) => {
      const { context, publication } = await dieAfterIntent("after_swap");
      await swapDays(publication, [changed, vanished]);
      await dead("after_swap");
      holds(t, await runOnce(context, config, "after_swap"), { status: "completed", dates_calculated: 0 });
      await isRolledForward(t, "after_swap");
    },
  );

  await t.test(
    "an interrupted publish whose staged rows are lost deletes nothing, and its days are gathered again",
    async (t) => {
      const { context, lines, publication } = await dieAfterIntent("staging_gone");
      await publication.client.command({ query: "DROP TABLE staged_chargebacks_e2 SYNC" });
      await dead("staging_gone");
      holds(t, await runOnce(context, config, "staging_gone"), { status: "completed" });
      holds(
        t,
        lines.find((line) => line.level === 50 && String(line.msg).includes("interrupted")),
        { days: [changed] },
      );
      await isRolledForward(t, "staging_gone");
    },
  );

  await t.test("a store that fails during a publish leaves the intent to the next run", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(changed, { "r-1": "10" });
    const context = runContext(stores, { ecosystems });
    await runOnce(context, config, "store_refuses");
    upstream.bill.set(changed, { "r-1": "20" });
    const { client } = await stores.tenant("store_refuses");
    // The bill can be swapped, the chargebacks cannot.
    upstream.onWindow = async () => {
      await client.command({ query: "RENAME TABLE chargebacks TO chargebacks_kept" });
      await client.command({ query: "CREATE VIEW chargebacks AS SELECT * FROM chargebacks_kept" });
    };
    const broken = await runOnce(context, config, "store_refuses");
    holds(t, broken, { status: "failed", dates_calculated: 0 });
    t.match(broken.errors.at(-1)?.message, /publishing 1 days was interrupted, the next run finishes it/);
    holds(t, await trackingDate(stores, "store_refuses", changed), {
      publishing_hash: String,
      allocation_attempts: 0,
    });
    await client.command({ query: "DROP VIEW chargebacks" });
    await client.command({ query: "RENAME TABLE chargebacks_kept TO chargebacks" });
    upstream.onWindow = async () => undefined;
    await runOnce(context, config, "store_refuses");
    t.same(await chargedOn(stores, "store_refuses", changed), ["ann: 10", "bob: 10"]);
    holds(t, await reconciled(stores, "store_refuses"), { off: [], staged: 0 });
  });

  await t.test(
    "an engine that dies during a publish is waited for, and no day shows two versions",
    async (t) => {
      const { upstream, ecosystems } = scriptedUpstream();
      for (const day of [changed, vanished, kept]) upstream.bill.set(day, { "r-1": "10" });
      const context = runContext(stores, { ecosystems });
      await runOnce(context, config, "engine_dies");
      const { client } = await stores.tenant("engine_dies");
      const send = client.command.bind(client);
      // Each of the replacements that readers depend on, in a publish of its own.
      const replaced = ["next_billing", "publishing_days", "chargebacks", "billing"];
      for (const [index, table] of replaced.entries()) {
        let killed = 0;
        client.command = async (command) => {
          if (killed > 0 || !command.query.startsWith(`ALTER TABLE ${table} REPLACE`))
            return await send(command);
          killed += 1;
          const sent = send(command);
          setTimeout(() => process.kill(stores.embeddedClickHouse?.pid() ?? 0, "SIGKILL"), 5);
          return await sent;
        };
        const amount = 20 + 10 * index;
        for (const day of [changed, vanished, kept]) upstream.bill.set(day, { "r-1": `${amount}` });
        await lossSaidBefore(stores, "engine_dies");
        const { status, errors } = await runOnce(context, config, "engine_dies");
        t.strictSame(
          { table, status, errors, killed },
          { table, status: "completed", errors: [], killed: 1 },
        );
        for (const day of [changed, vanished, kept])
          t.strictSame(await chargedOn(stores, "engine_dies", day), [
            `ann: ${amount / 2}`,
            `bob: ${amount / 2}`,
          ]);
        t.strictSame((await trackingDate(stores, "engine_dies", changed)).publishing_hash, null);
        const { off, staged } = await reconciled(stores, "engine_dies");
        t.strictSame({ off, staged }, { off: [], staged: 0 });
      }
      client.command = send;
    },
  );

  await t.test("staged input that is lost from the store never makes a day empty", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(changed, { "r-1": "10" });
    const context = runContext(stores, { ecosystems });
    await runOnce(context, config, "input_gone");
    await postgres.query(
      "UPDATE tracking_dates SET staged_hash = 'was staged' WHERE tenant_name = 'input_gone'",
    );
    upstream.onWindow = async () => {
      throw new Error("the upstream is away");
    };
    const result = await runOnce(context, config, "input_gone");
    holds(t, result.errors.at(-1), { date: changed, message: /not in the store any more/ });
    t.same(await chargedOn(stores, "input_gone", changed), ["ann: 5", "bob: 5"]);
    holds(t, await trackingDate(stores, "input_gone", changed), { staged_hash: null });
  });
});

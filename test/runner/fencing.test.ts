import type { ClickHouseClient } from "@clickhouse/client";
import t from "tap";
import type { Publication } from "../../src/allocate/allocation-job.js";
import { publishDays, recordIntent, recordResult } from "../../src/allocate/publish.js";
import { swapDays } from "../../src/allocate/swap-days.js";
import { claimStaging, dropStagedDays, twinned } from "../../src/clickhouse/staging.js";
import { LeaseLostError } from "../../src/common/lease-lost.js";
import { RunInProgressError } from "../../src/runner/control.js";
import { startTenantRun } from "../../src/runner/tenant-run.js";
import { holds } from "../holds.js";
import { recordCommands } from "../recorded-commands.js";
import { openTestStores } from "../stores.js";
import { until } from "../until.js";
import {
  chargedOn,
  daysBefore,
  reconciled,
  runContext,
  runOnce,
  runRecords,
  shortTenants,
  tenantOf,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const day = daysBefore(3);

t.test("a tenant has one run at a time", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme", "slow"]));
  const tenant = tenantOf(config, "acme");
  const signal = new AbortController().signal;
  const { upstream, ecosystems } = scriptedUpstream();
  upstream.bill.set(day, { "r-1": "10" });
  let proceed = () => {};
  upstream.onWindow = () => new Promise((resolve) => (proceed = () => resolve()));
  const context = runContext(stores, { ecosystems });

  await t.test("a second run is refused for any trigger while the first is in progress", async (t) => {
    const first = await startTenantRun(context, tenant, { trigger: "api", signal });
    const elsewhere = runContext(stores, { ecosystems, holder: "another process" });
    await t.rejects(startTenantRun(elsewhere, tenant, { trigger: "api", signal }), RunInProgressError);
    await until("the gather began", async () => (await runRecords(stores, "acme"))[0]?.stage === "gathering");
    proceed();
    await until("the gather waits", () => {
      proceed();
      return upstream.windows > 0;
    });
    holds(t, await first.done, { status: "completed", dates_calculated: 1 });
    t.equal((await runRecords(stores, "acme")).length, 1, "the refused run left no record");
  });

  await t.test("a run that loses its lease is aborted, and none of its data becomes visible", async (t) => {
    upstream.bill.set(day, { "r-1": "99" });
    upstream.onWindow = (_, abort) =>
      new Promise((_resolve, reject) =>
        abort.addEventListener("abort", () => reject(abort.reason), { once: true }),
      );
    const timing = { leaseSeconds: 30, heartbeatSeconds: 0.1 };
    const doomed = await startTenantRun({ ...context, leaseTiming: timing }, tenant, {
      trigger: "api",
      forceGather: true,
      signal,
    });
    await until(
      "the gather began",
      async () => (await runRecords(stores, "acme")).at(-1)?.stage === "gathering",
    );
    await stores.postgres.query(
      "UPDATE leases SET epoch = epoch + 1, holder = 'thief', expires_at = now() WHERE tenant_name = 'acme'",
    );
    const result = await doomed.done;
    t.equal(result.status, "failed");
    t.strictSame(
      result.errors.map(({ message }) => message),
      ["lease 2 was lost: another worker has taken the tenant over, or it had run out"],
    );
    t.same(await chargedOn(stores, "acme", day), ["ann: 5", "bob: 5"]);
    upstream.onWindow = async () => undefined;
    holds(t, await runOnce(context, config, "acme"), { status: "completed" });
    t.same(
      await chargedOn(stores, "acme", day),
      ["ann: 49.5", "bob: 49.5"],
      "the next holder publishes the days",
    );
  });
});

t.test("a holder that continues after its lease was taken over has no effect", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"]));
  const { postgres } = stores;
  const { upstream, ecosystems } = scriptedUpstream();
  upstream.bill.set(day, { "r-1": "10" });
  const context = runContext(stores, { ecosystems });
  await runOnce(context, config, "acme");
  const { client } = await stores.tenant("acme");
  const signal = new AbortController().signal;
  const old: Publication = {
    client,
    postgres,
    backupLock: stores.backupLock,
    tenantName: "acme",
    epoch: 1,
    signal,
  };

  await t.test("an outdated holder cannot stage", async (t) => {
    await claimStaging(client, 2);
    await t.rejects(
      client.insert({ table: "staged_billing_e1", values: [{ resource_id: "r" }], format: "JSONEachRow" }),
      /staged_billing_e1/,
    );
  });

  await t.test("an outdated holder cannot record an intent in Postgres", async (t) => {
    await postgres.query("UPDATE leases SET epoch = 2, expires_at = now() + interval '1 minute'");
    await postgres.query("UPDATE tracking_dates SET staged_hash = 'h'");
    await t.rejects(publishDays(old, [{ day, rows: 1 }]), LeaseLostError);
    await t.rejects(recordResult(old, [{ day, rows: 1 }]), LeaseLostError);
    await postgres.query("UPDATE leases SET epoch = 1, expires_at = now()");
    await t.rejects(recordIntent(old, [day]), LeaseLostError, "an expired lease cannot record one either");
  });

  await t.test("an outdated holder cannot record the result of another holder's intent", async (t) => {
    await postgres.query("UPDATE leases SET epoch = 2, expires_at = now() + interval '1 minute'");
    await postgres.query("UPDATE tracking_dates SET publishing_hash = 'theirs', published_hash = 'before'");
    await t.rejects(recordResult(old, [{ day, rows: 99 }]), LeaseLostError);
    const notes = await postgres.query(
      "SELECT publishing_hash, published_hash, chargeback_rows FROM tracking_dates",
    );
    t.strictSame(notes.rows, [{ publishing_hash: "theirs", published_hash: "before", chargeback_rows: 2 }]);
    await recordResult({ ...old, epoch: 2 }, [{ day, rows: 2 }]);
  });

  await t.test("an outdated holder with an earlier intent cannot swap days", async (t) => {
    await t.rejects(swapDays(old, [day]), /staged_/);
    t.same(await chargedOn(stores, "acme", day), ["ann: 5", "bob: 5"]);
  });

  await t.test("an outdated holder cannot claim the staging tables back", async (t) => {
    await t.rejects(claimStaging(client, 1), LeaseLostError);
    t.same(await stagingTables(client), allOf(2));
  });

  await t.test("an outdated holder cannot recreate the staging tables by emptying them", async (t) => {
    await dropStagedDays(client, 1, [day]);
    t.same(await stagingTables(client), allOf(2));
  });
  holds(t, await reconciled(stores, "acme"), { off: [] });
});

t.test("a new epoch claims the staging tables", async (t) => {
  const { stores } = await openTestStores(t, shortTenants(["acme"]));
  const { client } = await stores.tenant("acme");
  const stage = async (epoch: number, resource: string) =>
    void (await client.command({
      query: `INSERT INTO staged_billing_e${epoch} (timestamp, resource_id) VALUES ('${day} 00:00:00', '${resource}')`,
    }));
  const staged = async (epoch: number) =>
    (
      await (
        await client.query({
          query: `SELECT resource_id AS r FROM staged_billing_e${epoch}`,
          format: "JSONEachRow",
        })
      ).json<{ r: string }>()
    ).map((row) => row.r);

  await t.test("staging tables are created if there are none, and kept if claimed again", async (t) => {
    await claimStaging(client, 3);
    await stage(3, "kept");
    await claimStaging(client, 3);
    t.same(await stagingTables(client), allOf(3));
    t.same(await staged(3), ["kept"]);
  });

  await t.test("an interrupted claim is completed, with the staged rows", async (t) => {
    await client.command({
      query: "RENAME TABLE staged_usage_e3 TO staged_usage_e4, staged_billing_e3 TO staged_billing_e4",
    });
    await client.command({ query: "DROP TABLE staged_usage_gaps_e3 SYNC" });
    await claimStaging(client, 5);
    t.same(await stagingTables(client), allOf(5));
    t.same(await staged(5), ["kept"]);
  });

  await t.test("the newest staging tables are claimed if several epochs have left some", async (t) => {
    await client.command({ query: "CREATE TABLE staged_billing_e2 AS billing" });
    await client.command({ query: "CREATE TABLE staged_billing_e10 AS billing" });
    await stage(2, "stale");
    await stage(10, "newest");
    const { client: recording, sent } = recordCommands(client);
    await claimStaging(recording, 11);
    t.same(await stagingTables(client), allOf(11));
    const renames = sent.filter((query) => query.startsWith("RENAME"));
    t.same(
      renames.map((query) => query.split(" TO ").length),
      twinned.map(() => 2),
      "each table is renamed by its own statement, as replicated databases require",
    );
    t.same(await staged(11), ["newest"], "epochs are compared as numbers, and not as text");
  });

  await t.test("staging tables are recreated if a migration has changed the fact table", async (t) => {
    await client.command({ query: "ALTER TABLE billing ADD COLUMN invoice String" });
    await claimStaging(client, 12);
    t.same(await stagingTables(client), allOf(12));
    t.same(await staged(12), [], "rows of the old structure could not be swapped in");
  });
});

const allOf = (epoch: number) => twinned.toSorted().map((table) => `staged_${table}_e${epoch}`);

async function stagingTables(client: ClickHouseClient): Promise<string[]> {
  const result = await client.query({
    query:
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'staged%' ORDER BY name",
    format: "JSONEachRow",
  });
  return (await result.json<{ name: string }>()).map((row) => row.name);
}

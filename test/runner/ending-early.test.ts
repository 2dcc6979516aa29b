import t from "tap";
import { createCycleRunner } from "../../src/runner/cycle.js";
import { startTenantRun } from "../../src/runner/tenant-run.js";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import { until } from "../until.js";
import {
  chargedOn,
  daysBefore,
  reconciled,
  runContext,
  runOnce,
  runRecords,
  runRows,
  shortTenants,
  tenantOf,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const day = daysBefore(3);
const hanging = (_: unknown, signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
  );

t.test("a run that is ended early", async (t) => {
  const yaml = shortTenants(["limited"], ["tenant_execution_timeout_seconds: 1"]);
  const unlimited = shortTenants(["unlimited", "interrupted"], ["tenant_execution_timeout_seconds: 0"]);
  const { config, stores } = await openTestStores(t, yaml + unlimited.replace("tenants:", ""));
  const leaseLeft = async (name: string) => {
    const found = await stores.postgres.query(
      "SELECT expires_at > now() AS is_held FROM leases WHERE tenant_name = $1",
      [name],
    );
    return found.rows[0]?.is_held;
  };

  await t.test(
    "a run that exceeds its timeout is aborted and recorded, and other tenants and the next run are not affected",
    async (t) => {
      const { upstream, ecosystems } = scriptedUpstream({ onWindow: hanging });
      upstream.bill.set(day, { "r-1": "10" });
      const healthy = scriptedUpstream();
      healthy.upstream.bill.set(day, { "r-1": "10" });
      const context = runContext(stores, { ecosystems });
      const { done } = { done: runOnce(context, config, "limited") };
      const other = runOnce(runContext(stores, { ecosystems: healthy.ecosystems }), config, "unlimited");
      const result = await done;
      holds(t, result, {
        status: "failed",
        errors: [{ date: null, message: "Execution timed out after 1 seconds" }],
      });
      holds(t, await other, { status: "completed", dates_calculated: 1 });
      holds(t, (await runRecords(stores, "limited"))[0], {
        status: "failed",
        stage: null,
        errors: [{ message: "Execution timed out after 1 seconds" }],
      });
      t.equal(await leaseLeft("limited"), false);
      upstream.onWindow = async () => undefined;
      // The engine is busy with other tests. A healthy run must only not be blocked by the one before.
      const patient = {
        ...config,
        tenants: new Map(
          [...config.tenants].map(([name, tenant]) => [
            name,
            { ...tenant, tenant_execution_timeout_seconds: 60 },
          ]),
        ),
      };
      holds(t, await runOnce(context, patient, "limited"), { status: "completed", dates_calculated: 1 });
    },
  );

  await t.test("a timeout cancels the statement that runs in the engine", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(day, { "r-1": "11" });
    const { client } = await stores.tenant("limited");
    // Every read of the rules' tiers now takes a second, so that an allocation is slow.
    await client.command({ query: "RENAME TABLE allocation_rules TO rules_kept" });
    await client.command({
      query: `CREATE VIEW allocation_rules AS SELECT * REPLACE (tier + sleepEachRow(1) AS tier) FROM rules_kept
              SETTINGS function_sleep_max_microseconds_per_block = 3600000000`,
    });
    const { done } = await startTenantRun(
      runContext(stores, { ecosystems }),
      { ...tenantOf(config, "limited"), tenant_execution_timeout_seconds: 5 },
      { trigger: "api", forceGather: true, signal: new AbortController().signal },
    );
    await until(
      "the day is being calculated",
      async () => (await runRecords(stores, "limited")).at(-1)?.stage === "calculating",
    );
    holds(t, (await done).errors, [{ message: "Execution timed out after 5 seconds" }]);
    await until("no statement is left in the engine", async () => {
      const running = await runRows<{ n: string }>(
        stores,
        "limited",
        "SELECT count() AS n FROM system.processes WHERE query LIKE '%allocation_rules%' AND query NOT LIKE '%system.processes%'",
      );
      return Number(running[0]?.n) === 0;
    });
    t.same(await chargedOn(stores, "limited", day), ["ann: 5", "bob: 5"]);
    await client.command({ query: "DROP VIEW allocation_rules" });
    await client.command({ query: "RENAME TABLE rules_kept TO allocation_rules" });
  });

  await t.test("a timeout of 0 never ends a run", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(day, { "r-1": "10" });
    // Timers that are due at once fire in order: a timeout of 0 seconds would have fired by now.
    upstream.onWindow = () => new Promise((resolve) => setTimeout(resolve, 0));
    holds(t, await runOnce(runContext(stores, { ecosystems }), config, "unlimited"), { status: "completed" });
  });

  await t.test("a run that a shutdown ends is recorded and releases its lease", async (t) => {
    const { ecosystems } = scriptedUpstream({ onWindow: hanging });
    const shutdown = new AbortController();
    const cycles = createCycleRunner(runContext(stores, { ecosystems }), 1);
    const tenants = [...config.tenants.values()].filter(
      (tenant) => tenant.tenant_execution_timeout_seconds === 0,
    );
    // Not "schedule", because a scheduled run would skip the recent upstream and complete.
    const cycle = cycles.run(tenants, { trigger: "cli", signal: shutdown.signal });
    await until("the first tenant gathers", async () => {
      const found = await stores.postgres.query(
        "SELECT FROM runs WHERE status = 'running' AND stage = 'gathering'",
      );
      return found.rowCount === 1;
    });
    shutdown.abort(new Error("Interrupted by shutdown (SIGTERM)"));
    const results = await cycle;
    holds(t, results.get("unlimited")?.errors, [{ message: "Interrupted by shutdown (SIGTERM)" }]);
    t.equal(results.get("interrupted"), undefined, "a run that had not begun does not begin");
    holds(t, (await runRecords(stores, "unlimited")).at(-1), { status: "failed" });
    t.equal(await leaseLeft("unlimited"), false);
    holds(t, await reconciled(stores, "unlimited"), { off: [] });
  });
});

import t from "tap";
import { runStatement } from "../../src/postgres/statement.js";
import { createCycleRunner } from "../../src/runner/cycle.js";
import { liftSuspensions } from "../../src/runner/sql/tenants.js";
import { startTenantRun } from "../../src/runner/tenant-run.js";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import {
  daysBefore,
  recordingLogger,
  runContext,
  runOnce,
  runRecords,
  shortTenants,
  tenantOf,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const signal = new AbortController().signal;

t.test("a tenant whose gather keeps failing is suspended", async (t) => {
  const { config, stores } = await openTestStores(
    t,
    shortTenants(["bad", "good"], ["gather_failure_threshold: 3"]),
  );
  const { upstream, ecosystems } = scriptedUpstream();
  for (const days of [3, 4]) upstream.bill.set(daysBefore(days), { "r-1": "10" });
  const { logger, lines, messages } = recordingLogger();
  const context = runContext(stores, { ecosystems, logger });
  const down = () => {
    upstream.onWindow = async () => {
      throw new Error("the upstream returned 503");
    };
  };
  const up = () => {
    upstream.onWindow = async () => undefined;
  };
  const failures = async () =>
    (await stores.postgres.query("SELECT gather_failures FROM tenants WHERE tenant_name = 'bad'")).rows[0]
      .gather_failures;

  await t.test("failed gathers are counted, and a good gather resets the count", async (t) => {
    down();
    for (const count of [1, 2]) {
      holds(t, await runOnce(context, config, "bad"), { status: "failed", dates_gathered: 0 });
      t.equal(await failures(), count);
    }
    up();
    await runOnce(context, config, "bad");
    t.equal(await failures(), 0);
  });

  await t.test("failures of single sources and days do not count as a failed gather", async (t) => {
    upstream.sourceErrors = ["the discovery of identities failed"];
    upstream.incomplete.add(daysBefore(4));
    for (let i = 0; i < 4; i += 1) {
      holds(t, await runOnce(context, config, "bad"), {
        status: "completed_with_errors",
        errors: [{ source: "gather" }],
      });
    }
    t.equal(await failures(), 0);
    upstream.sourceErrors = [];
    upstream.incomplete.clear();
  });

  await t.test("aborted runs do not count as a failed gather", async (t) => {
    const abort = new AbortController();
    upstream.onWindow = async () => abort.abort();
    const result = await runOnce(context, config, "bad", { signal: abort.signal });
    holds(t, result.errors, [{ source: "run", message: "Interrupted by shutdown" }]);
    t.equal(await failures(), 0);
  });

  await t.test("a tenant is suspended at the threshold, and others continue", async (t) => {
    down();
    const cycles = createCycleRunner(context, 4);
    lines.length = 0;
    for (let i = 0; i < 3; i += 1) await runOnce(context, config, "bad");
    const alert = lines.filter((line) => line.level === 60);
    t.same(
      alert.map((line) => line.msg),
      ["ALERT: Tenant bad has been permanently suspended"],
    );
    t.match(alert[0]?.cause, /503/);
    await t.rejects(startTenantRun(context, tenantOf(config, "bad"), { trigger: "api", signal }), {
      name: "TenantSuspendedError",
      tenantName: "bad",
      cause: "3 consecutive gather failures, the last one: gather failed: the upstream returned 503",
    });
    up();
    const runs = (await runRecords(stores, "bad")).length;
    const results = await cycles.run([...config.tenants.values()], { trigger: "cli", signal });
    t.equal(results.get("bad"), undefined);
    holds(t, results.get("good"), { status: "completed" });
    t.equal((await runRecords(stores, "bad")).length, runs, "not processed any more");
  });

  await t.test("each cycle raises an alert while all tenants are suspended", async (t) => {
    down();
    for (let i = 0; i < 3; i += 1) await runOnce(context, config, "good");
    const cycles = createCycleRunner(context, 4);
    for (let i = 0; i < 2; i += 1) {
      lines.length = 0;
      await cycles.run([...config.tenants.values()], { trigger: "schedule", signal });
      t.same(messages(), ["ALERT: All 2 tenant(s) have been permanently suspended"]);
      t.equal(lines[0]?.level, 60);
    }
  });

  await t.test("the cycle that suspends the last tenant raises the alert", async (t) => {
    const all = [...config.tenants.values()];
    await runStatement(stores.postgres, liftSuspensions(["bad", "good"]));
    const cycles = createCycleRunner(context, 1);
    for (const suspends of [false, false, true]) {
      lines.length = 0;
      await cycles.run(all, { trigger: "cli", signal });
      const hasAlert = messages().includes("ALERT: All 2 tenant(s) have been permanently suspended");
      t.equal(hasAlert, suspends);
    }
  });

  await t.test("a suspended tenant is active again after a restart", async (t) => {
    up();
    await runStatement(stores.postgres, liftSuspensions(["bad", "good"]));
    t.equal(await failures(), 0);
    holds(t, await runOnce(context, config, "bad"), { status: "completed" });
  });
});

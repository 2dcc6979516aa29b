import t from "tap";
import { readPipelineStates } from "../../src/query/state/pipeline.js";
import { RunInProgressError } from "../../src/runner/control.js";
import { createCycleRunner } from "../../src/runner/cycle.js";
import { notifyAll } from "../../src/runner/run-events.js";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import { until } from "../until.js";
import {
  daysBefore,
  recordingLogger,
  recordingObserver,
  runContext,
  runRecords,
  shortTenants,
  tenantOf,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const signal = new AbortController().signal;
const names = ["a", "b", "c", "d", "e"];

t.test("a cycle runs several tenants", async (t) => {
  const away = shortTenants(["away"]).replace("embedded:away", "clickhouse://u:p@127.0.0.1:9/away");
  const { config, stores } = await openTestStores(t, `${shortTenants(names)}${away.replace("tenants:", "")}`);
  const some = (...names: string[]) => names.map((name) => tenantOf(config, name));

  await t.test("a cycle runs at most the configured number of tenants at a time", async (t) => {
    let now = 0;
    let most = 0;
    const { ecosystems } = scriptedUpstream({
      onWindow: async () => {
        now += 1;
        most = Math.max(most, now);
        await until("a neighbour gathers too, or nobody is left", () => now === 2 || most === 2, 5).catch(
          () => undefined,
        );
        now -= 1;
      },
    });
    const cycles = createCycleRunner(runContext(stores, { ecosystems }), 2);
    const results = await cycles.run(some(...names), { trigger: "cli", signal });
    t.equal(most, 2);
    t.same(
      [...results.values()].map((result) => result?.status),
      names.map(() => "completed"),
    );
  });

  await t.test(
    "a tenant with a broken store, configuration or upstream does not stop the cycle",
    async (t) => {
      const { upstream, ecosystems } = scriptedUpstream();
      upstream.bill.set(daysBefore(3), { "r-1": "10" });
      let connects = 0;
      upstream.onConnect = () => {
        connects += 1;
        if (connects === 1) throw new Error("the credentials are refused");
      };
      const context = runContext(stores, { ecosystems });
      const [first] = some("a");
      const odd = { ...tenantOf(config, "b"), ecosystem: "no_such_ecosystem" };
      const results = await createCycleRunner(context, 1).run(
        [...some("away"), odd, ...(first ? [first] : []), ...some("c")],
        {
          trigger: "cli",
          signal,
        },
      );
      holds(t, results.get("away"), {
        status: "failed",
        errors: [{ source: "run", message: /ECONNREFUSED/ }],
      });
      holds(t, results.get("b"), {
        status: "failed",
        errors: [{ message: "unknown ecosystem no_such_ecosystem" }],
      });
      holds(t, results.get("a"), { status: "failed", errors: [{ message: /the credentials are refused/ }] });
      holds(t, results.get("c"), { status: "completed", dates_calculated: 1 });
      for (const name of ["away", "b", "a"]) {
        const record = (await runRecords(stores, name)).at(-1);
        holds(t, record, { status: "failed", errors: [{ message: String }], ended_at: Date });
      }
    },
  );

  await t.test("a triggered run waits in the same queue, and is reported as queued", async (t) => {
    const proceed: (() => void)[] = [];
    const { upstream, ecosystems } = scriptedUpstream({
      onWindow: () => new Promise<void>((resolve) => proceed.push(resolve)),
    });
    const cycles = createCycleRunner(runContext(stores, { ecosystems }), 1);
    const request = { trigger: "api", signal, forceGather: true } as const;
    const start = async (name: string) => await cycles.start(tenantOf(config, name), request);
    const stateOf = async (name: string) => {
      const [state] = await readPipelineStates(stores.postgres, [name]);
      return [state?.is_running, state?.is_queued, state?.last_run_status];
    };
    const first = await start("a");
    const second = await start("b");
    t.strictSame([first.queued, second.queued], [false, true]);
    await until("the first gathers", () => proceed.length === 1);
    t.strictSame(await stateOf("a"), [true, false, "running"]);
    t.strictSame(await stateOf("b"), [true, true, "queued"]);
    await t.rejects(start("b"), RunInProgressError, "it is not queued twice");
    t.equal(upstream.windows, 0);
    proceed[0]?.();
    holds(t, await first.done, { status: "completed" });
    await until("the second gathers", () => proceed.length === 2);
    t.strictSame(await stateOf("b"), [true, false, "running"]);
    proceed[1]?.();
    holds(t, await second.done, { status: "completed" });
    t.strictSame(await stateOf("b"), [false, false, "completed"]);
  });

  await t.test("a queued run whose process dies has failed", async (t) => {
    const { postgres } = stores;
    const state = async () => (await readPipelineStates(postgres, ["c"]))[0];
    await postgres.query(
      `INSERT INTO runs (run_id, tenant_name, trigger, epoch, status)
       SELECT gen_random_uuid(), 'c', 'api', epoch, 'queued' FROM leases WHERE tenant_name = 'c'`,
    );
    holds(t, await state(), { is_running: false, is_queued: false, last_run_status: "failed" });
    await createCycleRunner(runContext(stores), 1).run(some("c"), { trigger: "cli", signal });
    const records = (await runRecords(stores, "c")).slice(-2);
    t.strictSame(
      records.map(({ status }) => status),
      ["failed", "completed"],
    );
  });

  await t.test("a cycle skips a tenant that still runs, and does not count it as a success", async (t) => {
    let proceed = () => {};
    const { upstream, ecosystems } = scriptedUpstream({
      onWindow: () => new Promise<void>((resolve) => (proceed = resolve)),
    });
    const { logger, messages } = recordingLogger();
    const { observer, events } = recordingObserver();
    const context = runContext(stores, { ecosystems, logger, observer: notifyAll([observer]) });
    const runs = (await runRecords(stores, "d")).length;
    const cycles = createCycleRunner(context, 1);
    const long = cycles.run(some("d", "e"), { trigger: "cli", signal });
    await until(
      "the first gathers",
      async () => (await runRecords(stores, "d")).at(-1)?.stage === "gathering",
    );
    const overlapping = await cycles.run(some("d", "e"), { trigger: "schedule", signal });
    const elsewhere = await createCycleRunner(context, 1).run(some("d"), { trigger: "schedule", signal });
    t.same([...overlapping.values(), ...elsewhere.values()], [undefined, undefined, undefined]);
    t.same(events, ["d skipped", "e skipped", "d skipped"], "the queued tenant is not queued twice");
    t.same(messages(), [
      "Tenant d: run skipped, already in progress",
      "Tenant e: run skipped, already in progress",
      "Tenant d: run skipped, already in progress",
    ]);
    await until("both are done", () => {
      proceed();
      return upstream.windows === 2;
    });
    await long;
    t.equal((await runRecords(stores, "d")).length, runs + 1);
  });

  await t.test(
    "a run inside the refresh gap does not gather, and says so; a trigger gathers once a minute, or when forced; pending days are calculated",
    async (t) => {
      const { upstream, ecosystems } = scriptedUpstream();
      upstream.bill.set(daysBefore(3), { "r-1": "10" });
      const { logger, messages } = recordingLogger();
      const cycles = createCycleRunner(runContext(stores, { ecosystems, logger }), 1);
      const run = async (trigger: "schedule" | "api" | "cli", forceGather = false) =>
        (await cycles.run(some("e"), { trigger, signal, forceGather })).get("e");
      const gathered = async (secondsAgo: number) =>
        void (await stores.postgres.query(
          "UPDATE tenants SET last_gather_at = now() - make_interval(secs => $1) WHERE tenant_name = 'e'",
          [secondsAgo],
        ));
      await gathered(100);
      await stores.postgres.query("UPDATE tracking_dates SET staged_hash = NULL WHERE tenant_name = 'e'");
      const soon = await run("schedule");
      holds(t, soon, { status: "completed", dates_gathered: 0 });
      t.match(
        soon?.notes[0] ?? "",
        /^not gathered: the last gathering began 10\d seconds ago, and min_refresh_gap_seconds is 1800$/,
      );
      t.strictSame((await runRecords(stores, "e")).at(-1)?.notes, soon?.notes, "its record has the note");
      t.equal(upstream.windows, 0);
      t.equal(messages()[0], "Tenant e: gathered moments ago, not gathering again");
      holds(t, await run("api"), { dates_gathered: 1, dates_calculated: 1 });
      holds(
        t,
        await run("schedule"),
        { dates_gathered: 0 },
        "a scheduled run does not gather moments after a triggered one",
      );
      const again = await run("api");
      holds(t, again, { dates_gathered: 0 }, "a second trigger does not gather either");
      t.match(
        again?.notes[0] ?? "",
        /a triggered run gathers once in 60 seconds unless it has force_gather$/,
      );
      holds(t, await run("api", true), { dates_gathered: 1, notes: [] });
      await gathered(1799);
      upstream.gaps.add(daysBefore(2));
      upstream.bill.set(daysBefore(2), { "metered-1": "8" });
      holds(
        t,
        await run("schedule"),
        { dates_gathered: 2, dates_pending: 1, dates_calculated: 1 },
        "a run that is due a moment early gathers",
      );
      holds(t, await run("schedule"), { dates_gathered: 0, dates_pending: 0, dates_calculated: 0 });
    },
  );

  await t.test("a failed run and changed settings end the refresh gap", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(daysBefore(3), { "r-1": "10" });
    upstream.bill.set(daysBefore(2), { "metered-1": "8" });
    const context = runContext(stores, { ecosystems });
    const run = async (tenants = some("e")) =>
      (await createCycleRunner(context, 1).run(tenants, { trigger: "schedule", signal })).get("e");
    const { postgres } = stores;
    await postgres.query("UPDATE tenants SET last_gather_at = NULL WHERE tenant_name = 'e'");
    holds(t, await run(), { status: "completed", notes: [] });
    t.match((await run())?.notes[0], /^not gathered: /, "the run is inside the gap");

    const changed = some("e").map((tenant) => ({ ...tenant, lookback_days: tenant.lookback_days - 1 }));
    holds(t, await run(changed), { status: "completed", notes: [] }, "the settings have changed");
    t.match((await run(changed))?.notes[0], /^not gathered: /, "the settings stay the same");
    holds(t, await run(), { status: "completed", notes: [] }, "they are changed back");

    upstream.onWindow = async () => {
      throw new Error("the upstream returned 503");
    };
    await postgres.query(
      "UPDATE tenants SET last_gather_at = now() - interval '1 hour' WHERE tenant_name = 'e'",
    );
    holds(t, await run(), { status: "failed" });
    upstream.onWindow = async () => undefined;
    await postgres.query(
      "UPDATE tenants SET last_gather_at = now() - interval '1 minute' WHERE tenant_name = 'e'",
    );
    holds(t, await run(), { status: "completed", notes: [] }, "the last run failed");
    t.match((await run())?.notes[0], /^not gathered: /);

    const cutOff = (startedAgo: string) =>
      postgres.query(
        `WITH cut AS (UPDATE tenants SET runs_cut_off = 1 WHERE tenant_name = 'e')
        UPDATE runs SET status = 'failed', started_at = now() - $1::interval WHERE run_id = (
          SELECT run_id FROM runs WHERE tenant_name = 'e' ORDER BY started_at DESC LIMIT 1)`,
        [startedAgo],
      );
    await postgres.query("DELETE FROM runs WHERE tenant_name = 'e'");
    await run();
    await cutOff("1 hour");
    t.match((await run())?.notes[0], /^not gathered: /, "an interrupted run had gathered successfully");
    await cutOff("0 seconds");
    holds(t, await run(), { status: "completed", notes: [] }, "an interrupted run had not gathered");
  });
});

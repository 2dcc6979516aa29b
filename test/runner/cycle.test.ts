import t from "tap";
import { createCycleRunner } from "../../src/runner/cycle.js";
import { observeAll } from "../../src/runner/observe.js";
import { openTestStores } from "../stores.js";
import {
  daysBefore,
  recordingLogger,
  recordingObserver,
  runContext,
  runRecords,
  shortTenants,
  tenantOf,
  until,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const signal = new AbortController().signal;
const names = ["a", "b", "c", "d", "e"];

t.test("a cycle over several tenants", async (t) => {
  const away = shortTenants(["away"]).replace("embedded:away", "clickhouse://u:p@127.0.0.1:9/away");
  const { config, stores } = await openTestStores(t, `${shortTenants(names)}${away.replace("tenants:", "")}`);
  const some = (...wanted: string[]) => wanted.map((name) => tenantOf(config, name));

  await t.test("runs so many at a time as it may", async (t) => {
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

  await t.test("is not stopped by a tenant whose store, configuration or upstream is broken", async (t) => {
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
    t.match(results.get("away"), { status: "failed", errors: [{ source: "run", message: /ECONNREFUSED/ }] });
    t.match(results.get("b"), {
      status: "failed",
      errors: [{ message: "unknown ecosystem no_such_ecosystem" }],
    });
    t.match(results.get("a"), { status: "failed", errors: [{ message: /the credentials are refused/ }] });
    t.match(results.get("c"), { status: "completed", dates_calculated: 1 });
    for (const name of ["away", "b", "a"]) {
      const record = (await runRecords(stores, name)).at(-1);
      t.match(record, { status: "failed", errors: [{ message: String }], ended_at: Date });
    }
  });

  await t.test("skips a tenant that still runs, and does not call that a success", async (t) => {
    let proceed = () => {};
    const { upstream, ecosystems } = scriptedUpstream({
      onWindow: () => new Promise<void>((resolve) => (proceed = resolve)),
    });
    const { logger, messages } = recordingLogger();
    const { observer, events } = recordingObserver();
    const context = runContext(stores, { ecosystems, logger, observer: observeAll([observer]) });
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
    t.same(events, ["d skipped", "e skipped", "d skipped"], "the queued one is not queued twice");
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
    "does not gather again inside the refresh gap, unless asked to; pending days are calculated",
    async (t) => {
      const { upstream, ecosystems } = scriptedUpstream();
      upstream.bill.set(daysBefore(3), { "r-1": "10" });
      const { logger, messages } = recordingLogger();
      const cycles = createCycleRunner(runContext(stores, { ecosystems, logger }), 1);
      const run = async (trigger: "schedule" | "api" | "cli") =>
        (await cycles.run(some("e"), { trigger, signal })).get("e");
      const gathered = async (secondsAgo: number) =>
        void (await stores.postgres.query(
          "UPDATE tenants SET last_gather_at = now() - make_interval(secs => $1) WHERE tenant_name = 'e'",
          [secondsAgo],
        ));
      await gathered(100);
      await stores.postgres.query("UPDATE tracking_dates SET staged_hash = NULL WHERE tenant_name = 'e'");
      t.match(await run("schedule"), { status: "completed", dates_gathered: 0 });
      t.equal(upstream.windows, 0);
      t.equal(messages()[0], "Tenant e: gathered moments ago, not gathering again");
      t.match(await run("api"), { dates_gathered: 1, dates_calculated: 1 });
      t.match(await run("schedule"), { dates_gathered: 0 }, "moments after a triggered one");
      await gathered(1799);
      upstream.gaps.add(daysBefore(2));
      upstream.bill.set(daysBefore(2), { "metered-1": "8" });
      t.match(
        await run("schedule"),
        { dates_gathered: 2, dates_pending: 1, dates_calculated: 0 },
        "a moment early is not inside",
      );
      await run("schedule");
      t.match(await run("schedule"), { dates_gathered: 0, dates_pending: 1, dates_calculated: 1 });
    },
  );
});

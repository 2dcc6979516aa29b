/** Hazards between the API and the pipeline while both are working: what a run may block, hide or leave behind. */
import type { FastifyInstance } from "fastify";
import t from "tap";
import { addDays } from "../../src/common/days.js";
import { buildApp } from "../../src/http/app.js";
import type { AnyEcosystem } from "../../src/ingest/ecosystem.js";
import type { PipelineControl } from "../../src/runner/control.js";
import { notifyAll } from "../../src/runner/run-events.js";
import { startTenantRun, type TenantRunContext } from "../../src/runner/tenant-run.js";
import { holds } from "../holds.js";
import { holdContract } from "../http/contract.js";
import {
  chargedOn,
  daysBefore,
  lossSaidBefore,
  reconciled,
  runContext,
  runDay,
  runOnce,
  runRecords,
  shortTenants,
  tenantOf,
  trackingDate,
} from "../runner/runs.js";
import { scriptedUpstream } from "../runner/scripted-upstream.js";
import { openTestStores, testLogger } from "../stores.js";
import { sendTagRequest } from "../tags/tagging.js";
import { until } from "../until.js";

const signal = new AbortController().signal;

t.test("runs and the API do not disturb each other", async (t) => {
  const away = shortTenants(["away"]).replace("embedded:away", "clickhouse://u:p@127.0.0.1:9/away");
  const names = ["acme", "odd", "late", "beyond", "cut"];
  const { config, stores } = await openTestStores(t, shortTenants(names) + away.replace("tenants:", ""));
  const faults: (readonly string[])[] = [];
  const serve = async (context: TenantRunContext | undefined): Promise<FastifyInstance> => {
    const control: PipelineControl | undefined = context && {
      trigger: async (name) => ({
        ...(await startTenantRun(context, tenantOf(config, name), {
          trigger: "api",
          signal,
          forceGather: true,
        })),
        queued: false,
      }),
      lookForDue: () => undefined,
    };
    const app = await buildApp({
      config,
      stores,
      control,
      logger: testLogger,
      version: "1.2.3",
      mode: control === undefined ? "api" : "both",
      clock: () => new Date(`${runDay}T12:00:00Z`),
    });
    faults.push(holdContract(app));
    t.teardown(() => app.close());
    return app;
  };

  await t.test("a tag is written, changed and read while a run gathers", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(daysBefore(3), { "r-1": "10" });
    const context = runContext(stores, { ecosystems });
    await runOnce(context, config, "acme");
    const app = await serve(context);
    const { body } = await sendTagRequest(app, "GET", `acme/chargebacks?start_date=${daysBefore(3)}`);
    let proceed = () => {};
    upstream.onWindow = () => new Promise<void>((resolve) => (proceed = resolve));
    const run = await startTenantRun(context, tenantOf(config, "acme"), {
      trigger: "api",
      signal,
      forceGather: true,
    });
    await until("it gathers", async () => (await runRecords(stores, "acme")).at(-1)?.stage === "gathering");
    const tags = `acme/chargebacks/${body.items[0].dimension_id}/tags`;
    const made = await sendTagRequest(app, "POST", tags, {
      tag_key: "team",
      display_name: "A",
      created_by: "ada",
    });
    t.equal(made.status, 201);
    t.equal(
      (await sendTagRequest(app, "PATCH", `acme/tags/${made.body.tag_id}`, { display_name: "B" })).status,
      200,
    );
    holds(t, (await sendTagRequest(app, "GET", tags)).body, [{ display_name: "B" }]);
    t.equal((await runRecords(stores, "acme")).at(-1)?.status, "running", "the run is still in progress");
    await until("the run is over", async () => {
      proceed();
      return (await runRecords(stores, "acme")).at(-1)?.status !== "running";
    });
    holds(t, await run.done, { status: "completed" });
  });

  await t.test("triggering a run during a scheduled one returns 409", async (t) => {
    const { ecosystems } = scriptedUpstream({
      onWindow: (_, abort) =>
        new Promise<void>((_resolve, reject) =>
          abort.addEventListener("abort", () => reject(abort.reason), { once: true }),
        ),
    });
    const app = await serve(runContext(stores, { ecosystems, holder: "the API's process" }));
    const stop = new AbortController();
    const context = runContext(stores, { ecosystems, holder: "the worker" });
    const run = await startTenantRun(context, tenantOf(config, "acme"), {
      trigger: "cli",
      signal: stop.signal,
    });
    const refused = await sendTagRequest(app, "POST", "acme/pipeline/run");
    holds(t, [refused.status, refused.body.code], [409, "run_in_progress"]);
    holds(t, (await sendTagRequest(app, "GET", "acme/pipeline/status")).body, {
      is_running: true,
      last_result: { dates_calculated: Number },
    });
    await t.test("an API process that starts during a run leaves the run alone", async (t) => {
      const started = await serve(undefined);
      holds(t, (await sendTagRequest(started, "GET", "acme/pipeline/status")).body, { is_running: true });
      t.equal((await runRecords(stores, "acme")).at(-1)?.status, "running");
    });
    stop.abort(new Error("the test is over"));
    await run.done;
  });

  await t.test("of many concurrent triggers, one is accepted", async (t) => {
    let proceed = () => {};
    const { ecosystems } = scriptedUpstream({
      onWindow: () => new Promise<void>((resolve) => (proceed = resolve)),
    });
    const apps = [
      await serve(runContext(stores, { ecosystems, holder: "one process" })),
      await serve(runContext(stores, { ecosystems, holder: "another" })),
    ];
    await lossSaidBefore(stores, "acme");
    const before = (await runRecords(stores, "acme")).length;
    const responses = await Promise.all(
      [...apps, ...apps, ...apps, ...apps].map((app) => sendTagRequest(app, "POST", "acme/pipeline/run")),
    );
    t.same(responses.map(({ status }) => status).sort(), [202, ...Array.from({ length: 7 }, () => 409)]);
    t.equal((await runRecords(stores, "acme")).length, before + 1);
    await until("the run is over", async () => {
      proceed();
      return (await runRecords(stores, "acme")).at(-1)?.status === "completed";
    });
  });

  await t.test("a triggered run that cannot start leaves a record with the reason", async (t) => {
    const app = await serve(runContext(stores, { ecosystems: scriptedUpstream().ecosystems }));
    const { status, body } = await sendTagRequest(app, "POST", "away/pipeline/run");
    t.equal(status, 202);
    const record = async () => (await sendTagRequest(app, "GET", `away/pipeline/runs/${body.run_id}`)).body;
    await until("it has failed", async () => (await record()).status === "failed");
    holds(t, await record(), { trigger: "api", errors: [{ message: /ECONNREFUSED/ }] });
    holds(t, (await sendTagRequest(app, "GET", "away/pipeline/status")).body, {
      is_running: false,
      last_result: { errors: [/ECONNREFUSED/] },
    });
    t.equal((await sendTagRequest(app, "GET", "away/chargebacks")).status, 503);
    t.equal(
      (await sendTagRequest(app, "GET", "acme/chargebacks")).status,
      200,
      "other tenants are not affected",
    );
  });

  await t.test("a line with an unknown granularity is allocated like any other", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    for (const days of [3, 4]) upstream.bill.set(daysBefore(days), { "r-1": "10" });
    const odd = changedLines(ecosystems, (line) => ({ ...line, granularity: "fortnightly" }));
    holds(t, await runOnce(runContext(stores, { ecosystems: odd }), config, "odd"), {
      status: "completed",
      dates_calculated: 2,
    });
    t.same(await chargedOn(stores, "odd", daysBefore(3)), ["ann: 5", "bob: 5"]);
    const app = await serve(undefined);
    const { body } = await sendTagRequest(app, "GET", `odd/billing?start_date=${daysBefore(5)}`);
    t.same(
      body.items.map((line: { granularity: string }) => line.granularity),
      ["fortnightly", "fortnightly"],
    );
  });

  await t.test("lines outside the requested window are neither stored nor charged", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(daysBefore(3), { "r-1": "10" });
    const strays = changedLines(ecosystems, (line) => line, [
      `${daysBefore(0)}T00:00:00Z`,
      `${daysBefore(400)}T00:00:00Z`,
    ]);
    holds(t, await runOnce(runContext(stores, { ecosystems: strays }), config, "beyond"), {
      dates_gathered: 1,
      dates_calculated: 1,
    });
    holds(t, await reconciled(stores, "beyond"), { days: 1, billing: "10", off: [], staged: 0 });
  });

  await t.test("a pending day that leaves the lookback is still calculated", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    const day = daysBefore(8);
    upstream.bill.set(day, { "r-1": "10" });
    const app = await serve(undefined);
    const pending = async () => {
      const tenants = (await app.inject({ url: "/api/v1/tenants" })).json();
      return tenants.find((tenant: { tenant_name: string }) => tenant.tenant_name === "late").dates_pending;
    };
    const stop = new AbortController();
    const observer = notifyAll([{ gathered: () => stop.abort(new Error("the service stops")) }]);
    const cutOff = runContext(stores, { ecosystems, observer });
    holds(t, await runOnce(cutOff, config, "late", { signal: stop.signal }), { dates_calculated: 0 });
    holds(t, await trackingDate(stores, "late", day), {
      billing_gathered: true,
      chargeback_calculated: false,
    });
    t.equal(await pending(), 1, "the day counts as pending");
    const later = runContext(stores, {
      ecosystems,
      now: () => new Date(`${addDays(runDay, 5)}T12:00:00Z`),
    });
    holds(t, await runOnce(later, config, "late"), { status: "completed", dates_calculated: 1 });
    t.same(await chargedOn(stores, "late", day), ["ann: 5", "bob: 5"]);
    t.equal(await pending(), 0);
  });

  await t.test("several interrupted runs are shown as failed, and the next run closes them", async (t) => {
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(daysBefore(3), { "r-1": "10" });
    const context = runContext(stores, { ecosystems });
    for (let run = 1; run <= 3; run += 1) await runOnce(context, config, "cut");
    await stores.postgres.query(
      "UPDATE runs SET status = 'running', stage = 'gathering', ended_at = NULL WHERE tenant_name = 'cut' AND epoch <= 2",
    );
    const app = await serve(undefined);
    const history = async () => (await sendTagRequest(app, "GET", "cut/pipeline/runs")).body.items;
    const interrupted = { status: "failed", stage: null, errors: [{ message: /interrupted/ }] };
    holds(t, await history(), [{ status: "completed" }, interrupted, interrupted]);
    holds(t, (await sendTagRequest(app, "GET", "cut/pipeline/status")).body, {
      is_running: false,
      last_result: { errors: [] },
    });
    await runOnce(context, config, "cut");
    const orphaned = { status: "failed", stage: null, ended_at: Date, errors: [{ message: /orphaned/ }] };
    holds(t, await runRecords(stores, "cut"), [
      orphaned,
      orphaned,
      { status: "completed" },
      { status: "completed" },
    ]);
  });

  t.same(faults.flat(), [], "all responses match the API description");
});

type Line = { readonly timestamp: string; readonly granularity: string };
type Ecosystems = ReadonlyMap<string, AnyEcosystem>;

/** The same upstream with changed lines, and with copies of them at other times. */
function changedLines(
  ecosystems: Ecosystems,
  change: <L extends Line>(line: L) => L,
  at: readonly string[] = [],
): Ecosystems {
  return changed(ecosystems, (connection) => ({
    ...connection,
    gatherWindow: (window, sink, abort) =>
      connection.gatherWindow(
        window,
        {
          ...sink,
          billing: (lines) =>
            sink.billing(
              lines.flatMap((line) => [change(line), ...at.map((timestamp) => ({ ...line, timestamp }))]),
            ),
        },
        abort,
      ),
  }));
}

type Connection = ReturnType<AnyEcosystem["connect"]>;

function changed(ecosystems: Ecosystems, change: (connection: Connection) => Connection): Ecosystems {
  return new Map(
    [...ecosystems].map(([name, ecosystem]) => [
      name,
      {
        ...ecosystem,
        connect: (...given: Parameters<AnyEcosystem["connect"]>) => change(ecosystem.connect(...given)),
      },
    ]),
  );
}

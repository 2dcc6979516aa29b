import t from "tap";
import { RunInProgressError, TenantSuspendedError } from "../../src/runner/control.js";
import { holds } from "../holds.js";
import { get, startService } from "./service.js";

const RUN_ID = "0b7e1f5e-0000-4000-8000-000000000001";
const run = "/api/v1/tenants/acme/pipeline/run";
const status = "/api/v1/tenants/acme/pipeline/status";

t.test("a pipeline can be started and observed", async (t) => {
  const { app, stores, build } = await startService(t);
  const pg = stores.postgres;
  const pipeline = async () => (await get(app, status)).body;
  const readiness = async () => (await get(await build(), "/api/v1/readiness")).body;
  await pg.query(
    "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'generic_metrics_only')",
  );
  const insertRun = (id: number, columns: string, values: string) =>
    pg.query(
      `INSERT INTO runs (run_id, tenant_name, trigger, epoch, started_at, ${columns}) VALUES ('0b7e1f5e-0000-4000-8000-00000000000${id}', 'acme', 'api', ${id}, '2026-03-0${id}T00:00:00Z', ${values})`,
    );
  const lease = (epoch: number, expires: string) =>
    pg.query(
      `INSERT INTO leases VALUES ('acme', 'w', ${epoch}, ${expires}) ON CONFLICT (tenant_name) DO UPDATE SET epoch = excluded.epoch, expires_at = excluded.expires_at`,
    );

  await t.test("before the first run the pipeline is idle", async (t) => {
    t.same(await pipeline(), {
      tenant_name: "acme",
      is_running: false,
      state: "idle",
      last_run: null,
      last_success: null,
      last_result: null,
    });
    holds(t, (await readiness()).tenants[0], {
      pipeline_running: false,
      last_run_status: null,
      last_run_at: null,
      pipeline_stage: null,
    });
  });

  await t.test("a run that ended with errors shows one line for each error", async (t) => {
    const errors = [
      { date: "2026-02-27", source: "calculate", message: "sums differ" },
      { date: null, source: "gather", message: "upstream away" },
      "bare",
    ];
    await insertRun(
      1,
      "status, dates_gathered, dates_calculated, chargeback_rows_written, errors, notes, ended_at",
      `'completed_with_errors', 3, 2, 6, '${JSON.stringify(errors)}', '["worth knowing"]', '2026-03-01T00:05:00.25Z'`,
    );
    t.same(await pipeline(), {
      tenant_name: "acme",
      is_running: false,
      state: "idle",
      last_run: "2026-03-01T00:05:00.250Z",
      last_success: "2026-03-01T00:05:00.250Z",
      last_result: {
        status: "completed_with_errors",
        notes: ["worth knowing"],
        dates_gathered: 3,
        dates_calculated: 2,
        chargeback_rows_written: 6,
        errors: ["2026-02-27: sums differ", "gather: upstream away", "bare"],
        completed_at: "2026-03-01T00:05:00.250Z",
      },
    });
  });

  await t.test("during a run, the status shows its stage and the result of the previous run", async (t) => {
    await insertRun(2, "status, stage, stage_date", "'running', 'calculating', '2026-02-28'");
    await lease(2, "now() + interval '1 minute'");
    holds(t, await pipeline(), {
      is_running: true,
      state: "running",
      last_run: "2026-03-02T00:00:00Z",
      last_result: { chargeback_rows_written: 6 },
    });
    holds(t, (await readiness()).tenants[0], {
      pipeline_running: true,
      pipeline_stage: "calculating",
      pipeline_current_date: "2026-02-28",
      last_run_status: "running",
      last_run_at: "2026-03-02T00:00:00Z",
    });
  });

  await t.test(
    "status and readiness show a run whose lease has expired or was taken over as failed",
    async (t) => {
      for (const [epoch, expires] of [
        [2, "'2026-03-02T01:00:00Z'"],
        [9, "now() + interval '1 minute'"],
      ] as const) {
        await lease(epoch, expires);
        const last_run = epoch === 2 ? "2026-03-02T01:00:00Z" : "2026-03-02T00:00:00Z";
        holds(t, await pipeline(), {
          is_running: false,
          last_run,
          last_result: { chargeback_rows_written: 0, errors: [/interrupted/], completed_at: last_run },
        });
        holds(t, (await readiness()).tenants[0], {
          pipeline_running: false,
          pipeline_stage: null,
          pipeline_current_date: null,
          last_run_status: "failed",
          last_run_at: last_run,
        });
      }
    },
  );

  await t.test("POST …/pipeline/run returns 202 with the run's id", async (t) => {
    const triggered: string[] = [];
    const both = await build({
      control: {
        lookForDue: () => undefined,
        trigger: async (name, { forceGather } = {}) => {
          triggered.push(name, JSON.stringify({ forceGather }));
          return { run_id: RUN_ID, queued: triggered.length > 2 };
        },
      },
    });
    const response = await both.inject({ method: "POST", url: run });
    t.equal(response.statusCode, 202);
    holds(t, response.json(), { tenant_name: "acme", status: "started", run_id: RUN_ID, message: /acme/ });
    t.same(triggered, ["acme", '{"forceGather":false}']);
    const queued = await both.inject({ method: "POST", url: run, payload: { force_gather: true } });
    holds(t, queued.json(), { status: "queued", message: /is queued\.$/ });
    t.same(triggered.slice(2), ["acme", '{"forceGather":true}']);
    t.equal(
      (await both.inject({ method: "POST", url: "/api/v1/tenants/nobody/pipeline/run" })).statusCode,
      404,
    );
    t.equal((await both.inject({ method: "POST", url: run, payload: { force: true } })).statusCode, 400);
    t.equal((await both.inject({ method: "POST", url: run, payload: {} })).statusCode, 202);
  });

  for (const [error, code, detail] of [
    [new RunInProgressError("acme"), "run_in_progress", /already running/],
    [
      new TenantSuspendedError("acme", "5 consecutive gather failures"),
      "tenant_suspended",
      /5 consecutive gather failures/,
    ],
  ] as const) {
    await t.test(`409 ${code}`, async (t) => {
      const busy = await build({
        control: { lookForDue: () => undefined, trigger: () => Promise.reject(error) },
      });
      const response = await busy.inject({ method: "POST", url: run });
      t.equal(response.statusCode, 409);
      holds(t, response.json(), { code, detail });
    });
  }

  await t.test("starting a run in api mode is 400, and the message names both mode", async (t) => {
    const api = await build({ mode: "api" });
    const response = await api.inject({ method: "POST", url: run });
    t.equal(response.statusCode, 400);
    holds(t, response.json(), {
      code: "pipeline_unavailable",
      detail: /No workflow runner is available.*both mode/,
    });
  });
});

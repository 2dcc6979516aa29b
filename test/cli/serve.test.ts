/**
 * `chargehouse serve` in its three modes, on embedded stores and with tenants of fixed costs, so that no upstream is
 * needed.
 */
import { writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import t from "tap";
import { CommandError } from "../../src/cli/command.js";
import { type ServeMode, serve, serveStores } from "../../src/cli/serve.js";
import { openStores } from "../../src/stores/open-stores.js";
import { holds } from "../holds.js";
import { runRecords, shortTenants } from "../runner/runs.js";
import { openTestStores, temporaryFolder, testConfig, testLogger } from "../stores.js";
import { until } from "../until.js";
import { commandIo } from "./command-io.js";

t.test("chargehouse serve", async (t) => {
  const once = "features: { enable_periodic_refresh: false }\n";
  const away = shortTenants(["away"]).replace("embedded:away", "clickhouse://u:p@127.0.0.1:9/away");
  const all = shortTenants(["acme", "globex"]) + away.replace("tenants:", "");
  const { config, stores } = await openTestStores(t, once + all);
  const { postgres } = stores;
  await postgres.query(`INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES
    ('acme', 'acme', 'generic_metrics_only'), ('globex', 'globex', 'generic_metrics_only')`);
  const suspend = () =>
    postgres.query("UPDATE tenants SET suspended_at = now(), suspension_reason = 'the upstream is away'");
  const suspended = async () =>
    (await postgres.query("SELECT FROM tenants WHERE suspended_at IS NOT NULL")).rowCount;
  const runs = async () => (await runRecords(stores, "acme")).length;

  /** Starts the service in a mode with some tenants on any free port. `ended` is its exit code. */
  const start = (
    mode: ServeMode,
    names: readonly string[] = ["acme", "globex"],
    changed: Partial<typeof config> = {},
  ) => {
    const tenants = new Map([...config.tenants].filter(([name]) => names.includes(name)));
    const { io, abort } = commandIo();
    let url = "";
    const ended = serveStores({
      config: { ...config, tenants, api: { ...config.api, port: 0 }, ...changed },
      stores: { ...stores, close: async () => undefined },
      logger: testLogger,
      mode,
      io,
      onListening: (address) => {
        url = address;
      },
    });
    const get = async (path: string) => JSON.parse(await (await fetch(url + path)).text());
    const trigger = async () => {
      const response = await fetch(`${url}/api/v1/tenants/acme/pipeline/run`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ force_gather: true }),
      });
      return { status: response.status, body: JSON.parse(await response.text()) };
    };
    /** A slow store may have its tables only after the service listens. */
    const readiness = async () => {
      let response: { status: string } | undefined;
      await until("its tables are there", async () => {
        response = await get("/api/v1/readiness");
        return response?.status !== "initializing";
      });
      return response;
    };
    return { abort, ended, get, readiness, trigger, isListening: () => url !== "", url: () => url };
  };

  await t.test("mode api serves, runs nothing, and leaves the runs of others alone", async (t) => {
    await suspend();
    await postgres.query("INSERT INTO leases VALUES ('acme', 'a worker', 7, now() + interval '1 minute')");
    const service = start("api");
    await until("it listens", service.isListening);
    holds(t, await service.get("/health"), { status: "ok", version: "0.0.0-dev" });
    holds(t, await service.readiness(), { mode: "api", version: "0.0.0-dev", status: "error" });
    holds(t, await service.trigger(), { status: 400, body: { code: "pipeline_unavailable" } });
    service.abort.abort();
    t.equal(await service.ended, 0);
    t.equal(await suspended(), 2);
    t.equal((await postgres.query("SELECT FROM leases WHERE expires_at > now()")).rowCount, 1);
    t.equal(await runs(), 0);
  });

  await t.test("mode worker runs, serves nothing, and begins with every tenant active", async (t) => {
    const service = start("worker");
    t.equal(await service.ended, 0, "the process ends after one cycle, without a refresh");
    t.equal(service.isListening(), false);
    t.equal(await suspended(), 0);
    holds(t, await runRecords(stores, "acme"), [{ trigger: "schedule", status: "completed" }]);
  });

  await t.test("mode both serves, runs a cycle, and then triggered runs", async (t) => {
    const service = start("both");
    const status = async () => await service.get("/api/v1/tenants/acme/pipeline/status");
    await until(
      "its cycle is over",
      async () => (await runs()) === 2 && (await status()).is_running === false,
    );
    holds(t, await service.readiness(), { mode: "both", status: "ready" });
    const { status: accepted, body } = await service.trigger();
    t.equal(accepted, 202);
    await until("the run is over", async () => (await status()).is_running === false);
    const record = await service.get(`/api/v1/tenants/acme/pipeline/runs/${body.run_id}`);
    holds(t, record, { trigger: "api", status: "completed", dates_gathered: 7, errors: [] });
    const { last_run, last_result } = await status();
    holds(t, last_result, { dates_gathered: 7, dates_calculated: 0, errors: [], completed_at: last_run });
    t.equal(Date.parse(last_run), Date.parse(record.ended_at), "the record is that of this run");
    service.abort.abort();
    t.equal(await service.ended, 0);
  });

  await t.test(
    "mode worker with api.worker_port serves health, readiness and metrics, and nothing else",
    async (t) => {
      const service = start("worker", ["acme"], {
        features: { ...config.features, enable_periodic_refresh: true },
        api: { ...config.api, worker_port: 0 },
      });
      await until("it listens", service.isListening);
      holds(t, await service.get("/health"), { status: "ok" });
      holds(t, await service.readiness(), { mode: "worker", tenants: [{ tenant_name: "acme" }] });
      const metrics = async () => await (await fetch(`${service.url()}/metrics`)).text();
      await until("its run counts", async () => /^chargehouse_runs_total.* 1$/m.test(await metrics()));
      t.match(await metrics(), /^chargehouse_tenant_suspended\{tenant="acme"\} 0$/m);
      for (const path of [
        "/",
        "/docs",
        "/openapi.json",
        "/api/v1/tenants",
        "/api/v1/tenants/acme/chargebacks",
      ])
        holds(t, await service.get(path), { status: 404, code: "path_not_found", detail: /^A worker has / });
      const posted = await fetch(`${service.url()}/api/v1/tenants/acme/pipeline/run`, { method: "POST" });
      t.equal(posted.status, 404);
      const status = new Promise((resolve) => {
        const headers = { host: "elsewhere.example" };
        get(`${service.url()}/metrics`, { headers }, (response) => resolve(response.resume().statusCode));
      });
      t.equal(await status, 421, "hosts are checked as by the API");
      service.abort.abort();
      t.equal(await service.ended, 0);
    },
  );

  await t.test("a store that is down at the start only affects its own tenant", async (t) => {
    const before = await runs();
    const service = start("both", ["away", "acme"]);
    const statusOf = async (name: string) => await service.get(`/api/v1/tenants/${name}/pipeline/status`);
    await until("the cycle has come to both", async () => {
      const [failed, done] = [await runRecords(stores, "away"), await runRecords(stores, "acme")];
      return (
        failed.at(-1)?.status === "failed" && done.length > before && done.at(-1)?.status === "completed"
      );
    });
    holds(t, await statusOf("away"), { is_running: false, last_result: { errors: [/ECONNREFUSED/] } });
    holds(t, await service.get("/api/v1/readiness"), {
      status: "ready",
      tenants: [
        { tenant_name: "acme", tables_ready: true, has_data: true },
        { tenant_name: "away", tables_ready: false },
      ],
    });
    t.equal((await service.get("/api/v1/tenants/acme/chargebacks")).total, 7);
    service.abort.abort();
    t.equal(await service.ended, 0);
  });
});

t.test("a schema that is newer than the code stops the start", async (t) => {
  const folder = temporaryFolder(t);
  const yaml = `data_dir: ${folder}/data\n${shortTenants(["acme"])}`;
  const stores = await openStores({ config: testConfig(yaml, folder), logger: testLogger });
  const { client } = await stores.tenant("acme");
  await client.command({
    query: "INSERT INTO schema_migrations VALUES ('9999', 'from_the_future', '', now())",
  });
  await stores.close();
  const file = join(folder, "chargehouse.yaml");
  writeFileSync(file, `logging: { level: fatal }\n${yaml}`);
  const refused = serve.run(["--config", file, "--mode", "worker"], commandIo().io);
  await t.rejects(refused, {
    message: /^clickhouse\/acme: the schema is newer .* 9999_from_the_future/,
    exitCode: 1,
  });
  await t.rejects(refused, CommandError);
});

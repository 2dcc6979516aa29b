import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type pg from "pg";
import t, { type Test } from "tap";
import { openPostgres } from "../../src/postgres/client.js";
import type { Stores } from "../../src/stores/stores.js";
import { holds } from "../holds.js";
import { testLogger } from "../stores.js";
import { get, insertChargebacks, NOW, startService } from "./service.js";

t.test("GET /health and /api/v1/readiness", async (t) => {
  const { app, stores, config, build } = await startService(t);
  await Promise.all(["acme", "globex"].map((name) => stores.tenant(name)));
  const fresh = async (broken: Partial<Stores> = {}, query = "") => {
    const { postgres } = stores;
    const changed: Stores = {
      postgres,
      tenant: (name) => stores.tenant(name),
      close: async () => undefined,
      ...broken,
    };
    return get(await build({ stores: changed }), `/api/v1/readiness${query}`);
  };

  await t.test("/health", async (t) => {
    t.same(await get(app, "/health").then(({ status, body }) => [status, body]), [
      200,
      { status: "ok", version: "1.2.3" },
    ]);
    t.equal((await app.inject({ method: "HEAD", url: "/health" })).body, "");
  });

  await t.test("without data readiness is no_data, with every field of the interface", async (t) => {
    const { status, body } = await fresh();
    t.equal(status, 200);
    t.same(body, {
      status: "no_data",
      version: "1.2.3",
      mode: "both",
      tenants: ["acme", "globex"].map((tenant_name) => ({
        tenant_name,
        tables_ready: true,
        store_state: "known",
        has_data: false,
        days_lost: 0,
        pipeline_running: false,
        pipeline_stage: null,
        pipeline_current_date: null,
        last_run_status: null,
        last_run_at: null,
        permanent_failure: null,
      })),
    });
  });

  await t.test("without tenants readiness is no_data", async (t) => {
    const { body } = await get(
      await build({ config: { ...config, tenants: new Map() } }),
      "/api/v1/readiness",
    );
    t.same([body.status, body.tenants], ["no_data", []]);
  });

  await t.test("readiness is ready if a tenant has a day with rows", async (t) => {
    await stores.postgres.query(
      "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'e'), ('globex', 'globex', 'e')",
    );
    await stores.postgres.query(
      "INSERT INTO tracking_dates (tenant_name, tracking_date, chargeback_calculated, chargeback_rows) VALUES ('acme', '2026-03-01', true, 3), ('globex', '2026-03-01', true, 0)",
    );
    const { body } = await fresh();
    t.equal(body.status, "ready");
    t.same(
      body.tenants.map((tenant: { has_data: boolean }) => tenant.has_data),
      [true, false],
    );
  });

  await t.test("a tenant's dead store only affects its own entry and requests", async (t) => {
    const broken: Partial<Stores> = {
      tenant: (name) =>
        name === "globex" ? Promise.reject(new Error("secret host:9000 refused")) : stores.tenant(name),
    };
    const { status, body } = await fresh(broken);
    t.equal(status, 200);
    t.equal(body.status, "ready");
    t.same(
      body.tenants.map((tenant: { tables_ready: boolean }) => tenant.tables_ready),
      [true, false],
    );
    t.equal((await fresh(broken, "?strict=true")).status, 200, "the instance is not drained");
    t.equal((await fresh(broken, "?strict=all")).status, 503);
    const none: Partial<Stores> = { tenant: () => Promise.reject(new Error("refused")) };
    t.equal((await fresh(none)).body.status, "initializing");
    t.equal((await fresh(none, "?strict=true")).status, 503);
    const down = await build({
      stores: {
        postgres: stores.postgres,
        close: async () => undefined,
        tenant: () => stores.tenant("acme"),
        ...broken,
      },
    });
    t.equal((await get(down, "/api/v1/tenants")).status, 200);
    await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-01T00:00:00Z", amount: "1" }]);
    t.equal((await get(down, "/api/v1/tenants/acme/chargebacks")).body.total, 1);
    const response = await get(down, "/api/v1/tenants/globex/chargebacks");
    t.equal(response.status, 503);
    holds(t, response.body, { code: "store_unavailable", error_id: /^[0-9a-f-]{36}$/ });
    t.notMatch(JSON.stringify(response.body), /secret/);
  });

  await t.test("readiness does not wait for a store that does not respond", async (t) => {
    const { body } = await fresh({
      tenant: (name) => (name === "globex" ? new Promise(() => undefined) : stores.tenant(name)),
    });
    t.same(
      body.tenants.map((tenant: { tables_ready: boolean }) => tenant.tables_ready),
      [true, false],
    );
  });

  await t.test(
    "strict=true is 200 while one tenant can be served, and strict=all while all can",
    async (t) => {
      t.equal((await fresh({}, "?strict=true")).status, 200);
      t.equal((await fresh({}, "?strict=all")).status, 200);
      t.equal((await fresh({}, "?strict=false")).status, 200);
      t.equal((await fresh({}, "?strict=yes")).status, 400);
    },
  );

  await t.test(
    "a suspended tenant shows its cause, and readiness is error if all are suspended",
    async (t) => {
      await stores.postgres.query(
        "UPDATE tenants SET suspended_at = now(), suspension_reason = '5 consecutive gather failures' WHERE tenant_name = 'globex'",
      );
      const one = (await fresh()).body;
      t.same([one.status, one.tenants[1].permanent_failure], ["ready", "5 consecutive gather failures"]);
      await stores.postgres.query("UPDATE tenants SET suspended_at = now()");
      t.equal((await fresh()).body.status, "error");
      t.equal((await fresh({}, "?strict=true")).status, 503);
    },
  );

  await t.test("a readiness response is shared for two seconds, and while it is computed", async (t) => {
    let requested = 0;
    const counting: Stores = {
      postgres: stores.postgres,
      close: async () => undefined,
      tenant: (name) => {
        requested++;
        return stores.tenant(name);
      },
    };
    let now = NOW.getTime();
    const cached = await build({ stores: counting, clock: () => new Date(now) });
    await Promise.all([1, 2, 3].map(() => get(cached, "/api/v1/readiness")));
    await get(cached, "/api/v1/readiness?strict=true");
    t.equal(requested, 2, "each tenant is probed once");
    now += 1999;
    await get(cached, "/api/v1/readiness");
    t.equal(requested, 2);
    now += 1;
    await get(cached, "/api/v1/readiness");
    t.equal(requested, 4, "the stores are probed again after two seconds");
  });

  await t.test(
    "while Postgres is down, facts and liveness are served, and reads of Postgres are 503",
    async (t) => {
      const road = await roadTo(t, stores.postgres);
      const { database, user, password } = stores.postgres.options;
      const connection = { host: "127.0.0.1", port: road.port, database, user, password };
      const postgres = openPostgres(connection, { logger: testLogger });
      t.teardown(() => postgres.end());
      const paths = ["", "/acme/status", "/acme/tags", "/acme/resources", "/acme/pipeline/status"];
      const away = await build({
        stores: { postgres, tenant: (name) => stores.tenant(name), close: async () => undefined },
      });
      for (const path of paths) t.equal((await get(away, `/api/v1/tenants${path}`)).status, 200, path);
      await road.close();
      t.equal((await get(away, "/health")).status, 200);
      holds(t, (await get(away, "/api/v1/readiness")).body, {
        status: "initializing",
        tenants: [{ tables_ready: false }, { tables_ready: false }],
      });
      for (const noun of ["billing", "chargebacks", "chargebacks/dates", "chargebacks/aggregate"])
        t.equal((await get(away, `/api/v1/tenants/acme/${noun}`)).status, 200, noun);
      for (const path of paths) {
        const { status, headers, body } = await get(away, `/api/v1/tenants${path}`);
        holds(t, [status, body.code, headers["retry-after"]], [503, "store_unavailable", "5"], path);
      }
      await road.open();
      for (const path of paths) t.equal((await get(away, `/api/v1/tenants${path}`)).status, 200, path);
    },
  );
});

/**
 * Forwards a loopback port to a Postgres of this machine. The test closes and opens it to simulate a network failure.
 */
async function roadTo(t: Test, { options }: pg.Pool) {
  const socket = join(options.host ?? "", `.s.PGSQL.${options.port ?? 5432}`);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const there = connect(socket);
    for (const each of [client, there]) {
      sockets.add(each);
      each.on("error", () => undefined).on("close", () => sockets.delete(each));
    }
    client.pipe(there).pipe(client);
  });
  const listen = async (port: number) => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  const close = async () => {
    const closed = once(server, "close");
    server.close();
    for (const each of sockets) each.destroy();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  t.teardown(() => (server.listening ? close() : undefined));
  return { port, close, open: () => listen(port) };
}

/** Readiness of many tenants on one store limits its queries and log lines. */
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import t from "tap";
import { openClickHouseClient } from "../../src/clickhouse/client.js";
import type { TenantConfig } from "../../src/config/config.js";
import type { Stores } from "../../src/stores/stores.js";
import { recordingLogger } from "../runner/runs.js";
import { until } from "../until.js";
import { get, NOW, startService } from "./service.js";

const names = Array.from({ length: 50 }, (_, index) => `tenant-${index}`);
/** A store is probed for so many tenants at a time, and once for itself. */
const AT_ONCE = 4;

t.test("readiness checks fifty tenants of one store without overloading it", async (t) => {
  const { stores, config, build } = await startService(t);
  const real = await stores.tenant("acme");
  const acme = config.tenants.get("acme");
  const engine = await stores.embeddedClickHouse?.endpoint();
  if (acme === undefined || engine === undefined) throw new Error("acme is embedded");

  // A proxy between the service and the engine counts statements.
  const seen = { running: 0, most: 0, all: 0 };
  let away = false;
  let delayMs = 0;
  const between = createServer(async (requested, response) => {
    if (away) return void requested.socket.destroy();
    seen.all += 1;
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    response.once("close", () => {
      seen.running -= 1;
    });
    const { method, url: path, headers } = requested;
    if (delayMs > 0) await delay(delayMs);
    requested.pipe(
      request({ socketPath: engine.socketPath, method, path, headers }, (given) => {
        response.writeHead(given.statusCode ?? 500, given.headers);
        given.pipe(response);
      }),
    );
  }).listen(0, "127.0.0.1");
  await once(between, "listening");
  const { port } = between.address() as AddressInfo;
  const client = openClickHouseClient({
    url: `http://127.0.0.1:${port}`,
    username: engine.username,
    password: engine.password,
    database: real.database,
    maxOpenConnections: 200,
    applicationName: "test",
  });
  t.teardown(async () => {
    await client.close();
    between.closeAllConnections();
    between.close();
  });

  const tenants = new Map(
    names.map((name): [string, TenantConfig] => [name, { ...acme, tenant_name: name }]),
  );
  const shared: Stores = {
    postgres: stores.postgres,
    tenant: async (tenantName) => ({ ...real, client, tenantName }),
    close: async () => undefined,
  };
  const { logger, lines } = recordingLogger();
  const said = () =>
    lines
      .splice(0)
      .map(({ msg }) => msg)
      .filter((msg) => /respond/.test(msg));
  let now = NOW.getTime();
  const app = await build({
    config: { ...config, tenants },
    stores: shared,
    logger,
    clock: () => new Date(now),
  });
  /** Polls every few seconds until the number of tenants that are served is as expected. */
  const served = async () => {
    now += 2_000;
    const { body } = await get(app, "/api/v1/readiness");
    const { length } = body.tenants.filter((tenant: { tables_ready: boolean }) => tenant.tables_ready);
    return { status: body.status, served: length };
  };
  /** A busy machine may need several rounds, because a late probe counts as failed. */
  const allServed = async () =>
    await until("all are served", async () => (await served()).served === names.length, 180);

  await allServed();
  t.ok(seen.most <= AT_ONCE + 1, `${seen.most} statements at once`);
  t.ok(seen.all >= names.length, `${seen.all} statements`);
  await until("a moment later nothing more is requested", async () => {
    const before = seen.all;
    const { body } = await get(app, "/api/v1/tenants");
    return seen.running === 0 && seen.all === before && body.length === names.length;
  });

  await t.test("a tenant that was checked before does not wait for the checks of all others", async (t) => {
    delayMs = 100;
    now += 5_000;
    const before = seen.all;
    const { body } = await get(app, "/api/v1/tenants");
    t.equal(body.length, names.length);
    // Each slot can take up to fifteen probes in the 1.5 s of a readiness check.
    t.equal(seen.all - before <= 10 * AT_ONCE, true, `${seen.all - before} statements until the response`);
    delayMs = 0;
    await until("the line is empty", () => seen.running === 0);
  });

  said();
  away = true;
  between.closeAllConnections();
  for (const more of [0, 0, 0, 60_000]) {
    now += more;
    t.strictSame(
      await served(),
      { status: "initializing", served: 0 },
      "earlier responses of the store do not count",
    );
  }
  t.strictSame(said(), ["a store does not respond"], "the log has one line for all tenants and all checks");

  away = false;
  await allServed();
  t.equal(said()[0], "a store responds again");
});

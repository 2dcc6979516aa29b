/** Stores that cannot be opened leave no connection, child process or lock. */
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import t from "tap";
import { openStores } from "../../src/stores/open-stores.js";
import { shortTenants } from "../runner/runs.js";
import { openTestStores, temporaryFolder, testConfig, testLogger } from "../stores.js";
import { until } from "../until.js";

t.test("failed openings of a store leave no connections, however often they are retried", async (t) => {
  const connections = new Set<Socket>();
  let requested = 0;
  const broken = createServer((request, response) => {
    requested += 1;
    request.resume().on("end", () => response.writeHead(500).end("Code: 1000. DB::Exception: out of order"));
  });
  broken.on("connection", (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  broken.keepAliveTimeout = 600_000;
  await new Promise<void>((listening) => broken.listen(0, "127.0.0.1", listening));
  t.teardown(() => broken.close());
  const { port } = broken.address() as AddressInfo;
  const yaml = shortTenants(["away"]).replace("embedded:away", `clickhouse://u:p@127.0.0.1:${port}/away`);
  const { stores } = await openTestStores(t, yaml);
  const { postgres } = stores;
  for (let attempt = 0; attempt < 5; attempt += 1) await t.rejects(stores.tenant("away"), /out of order/);
  t.equal(requested, 5, "each attempt sent a request");
  await until("their connections are closed", () => connections.size === 0);
  t.equal(postgres.totalCount, postgres.idleCount, "all connections of Postgres are idle");
});

t.test("a cancelled start releases the data directory for the next one", async (t) => {
  const folder = temporaryFolder(t);
  const config = testConfig(`data_dir: ${folder}/data\n${shortTenants(["acme"])}`, folder);
  const stopped = new Error("stopped");
  await t.rejects(openStores({ config, logger: testLogger, signal: AbortSignal.abort(stopped) }), stopped);
  t.equal(existsSync(join(folder, "data", "chargehouse.pid")), false);
  t.equal(
    existsSync(join(folder, "data", "postgres", "postmaster.pid")),
    false,
    "no server of Postgres is left",
  );
  const stores = await openStores({ config, logger: testLogger });
  t.equal((await stores.postgres.query("SELECT 1")).rowCount, 1);
  await stores.close();
});

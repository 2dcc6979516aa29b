/**
 * `chargehouse serve` on stores that another process has open. An embedded engine listens on a socket of its owner,
 * which no configuration names. Arguments: the path of the configuration and the mode; the environment has the address
 * of the engine.
 */
import { pino } from "pino";
import { roomForBuffers } from "../src/cli/heap.js";
import { serveModes, serveStores } from "../src/cli/serve.js";
import { readConfig } from "../src/config/read-file.js";
import type { Endpoint } from "../src/embedded-clickhouse/supervisor.js";
import { ecosystems } from "../src/ingest/ecosystems/registry.js";
import { openPostgres } from "../src/postgres/client.js";
import { createBackupLock } from "../src/stores/backup-lock.js";
import { createStoreOwners } from "../src/stores/facts/store-owners.js";
import { migrationFolders } from "../src/stores/open-stores.js";
import { createTenantStores } from "../src/stores/tenant-stores.js";

roomForBuffers();
const [, , file = "", modeArgument] = process.argv;
const mode = serveModes.find((each) => each === modeArgument);
const endpoint: Endpoint = JSON.parse(process.env.BENCH_ENGINE ?? "null");
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
const signal = ending.signal;
const logger = pino({ level: "warn" }, pino.destination(2));

const read = await readConfig(file, { env: {}, ecosystems });
if (mode === undefined || !read.ok || read.config.postgres.kind !== "server")
  throw new Error(`not what the benchmark writes: ${file}, ${modeArgument}`);
const { config } = read;
const postgres = openPostgres(
  { connectionString: read.config.postgres.connection_string },
  { logger, max: 20 },
);
const tenants = createTenantStores({
  config,
  postgres,
  logger,
  signal,
  embedded: { endpoint: async () => endpoint },
  migrations: migrationFolders,
});
const owners = createStoreOwners(postgres, logger);
const stores = {
  postgres,
  owners,
  backupLock: createBackupLock(),
  tenant: tenants.open,
  serverClient: tenants.serverClient,
  embeddedClickHouse: undefined,
  ownsPostgres: false,
  async close() {
    await owners.release();
    await tenants.close();
    await postgres.end();
  },
};
const { stdout, stderr } = process;
await serveStores({ config, logger, stores, mode, io: { stdout, stderr, env: {}, signal } });

import { hostname } from "node:os";
import { resolve } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { openClickHouseClient } from "../clickhouse/client.js";
import { refuseOtherKind } from "../clickhouse/replicas/cluster.js";
import { readRows } from "../clickhouse/statement.js";
import { keyedLimit } from "../common/keyed-limit.js";
import { MigrationRefused } from "../common/migrate/report.js";
import { StoreNotOpenedError } from "../common/store-not-opened.js";
import type { Config, TenantConfig } from "../config/config.js";
import { describeServer, describeStorage, storageKeys } from "../config/settings/storage.js";
import type { EmbeddedClickHouse } from "../embedded-clickhouse/index.js";
import { checkPostgresSchema } from "../postgres/migrate.js";
import type { StoreLocation } from "./facts/store-owners.js";
import { checkClickHouseSchema, migrateClickHouse } from "./migrate-clickhouse.js";
import { type ServerAddress, serverAddress } from "./server-address.js";
import type { TenantStore } from "./stores.js";

export interface TenantStoresOptions {
  readonly config: Config;
  readonly postgres: Pool;
  readonly embedded: Pick<EmbeddedClickHouse, "endpoint"> | undefined;
  /** Folders of the migrations. Undefined: schemas stay as they are. */
  readonly migrations: { readonly clickhouse: string; readonly postgres: string } | undefined;
  readonly logger: Logger;
  readonly signal?: AbortSignal | undefined;
}

export interface TenantStores {
  open(tenantName: string): Promise<TenantStore>;
  /** Returns a client of the tenant's server. The tenant's database need not exist yet. */
  serverClient(tenantName: string): Promise<ClickHouseClient>;
  close(): Promise<void>;
}

/**
 * How many tenants of one ClickHouse are migrated at once. Each migration takes a connection of the Postgres pool, and
 * this limit leaves enough connections for everything else.
 */
const MIGRATED_AT_ONCE = 4;

/**
 * Tenants' stores by name. Each is opened and migrated once. If opening fails, all that it opened is closed and
 * forgotten, so that the next call tries again and nothing accumulates.
 */
export function createTenantStores(options: TenantStoresOptions): TenantStores {
  const opened = new Map<string, Promise<TenantStore>>();
  const addresses = new Map<string, Promise<ServerAddress>>();
  const clients = new Set<ClickHouseClient>();
  const limitOf = keyedLimit(MIGRATED_AT_ONCE);
  let isClosed = false;

  /** All clients of a tenant use the same host, which has caught up with the other replicas once. */
  const addressOf = async (tenant: TenantConfig) => {
    const { storage } = tenant;
    if (storage.kind === "server")
      return await onceFor(addresses, describeStorage(storage), () =>
        reaching(tenant, options.signal, () => serverAddress(storage, options.logger)),
      );
    if (options.embedded === undefined) throw new Error("the embedded store is not configured");
    return await options.embedded.endpoint();
  };
  const connect = async (tenant: TenantConfig, database: string): Promise<ClickHouseClient> => {
    const address = await addressOf(tenant);
    if (isClosed) throw new Error("the stores have been closed");
    const client = openClickHouseClient({ ...address, database, applicationName: "chargehouse" });
    clients.add(client);
    return client;
  };
  const disconnect = async (client: ClickHouseClient): Promise<void> => {
    if (clients.delete(client)) await client.close();
  };

  const find = (tenantName: string): TenantConfig => {
    const tenant = options.config.tenants.get(tenantName);
    if (tenant === undefined) throw new Error(`unknown tenant ${tenantName}`);
    return tenant;
  };

  const migrate = async (tenant: TenantConfig, dir: string): Promise<void> => {
    const { storage } = tenant;
    const { database } = storage;
    const cluster = storage.kind === "server" ? storage.cluster : undefined;
    const server = await connect(tenant, "default");
    try {
      if (storage.kind === "server")
        await reaching(tenant, options.signal, () =>
          refuseOtherKind(server, { database, cluster }, options.signal),
        );
      await migrateClickHouse(server, {
        dir,
        database,
        cluster,
        postgres: options.postgres,
        address: storageKeys(storage).sort().join(" "),
        logger: options.logger,
        signal: options.signal,
      });
    } finally {
      await disconnect(server);
    }
  };

  const openTenant = async (tenantName: string): Promise<TenantStore> => {
    const tenant = find(tenantName);
    const { database } = tenant.storage;
    const { migrations, postgres } = options;
    if (migrations !== undefined)
      await limitOf(describeServer(tenant.storage))(() => migrate(tenant, migrations.clickhouse));
    const client = await connect(tenant, database);
    return {
      tenantName,
      tenantId: tenant.tenant_id,
      ecosystem: tenant.ecosystem,
      client,
      database,
      location: locationOf(tenant, options.config.data_dir),
      async refuseNewerSchema() {
        if (migrations === undefined) return;
        await checkPostgresSchema(postgres, migrations.postgres);
        await checkClickHouseSchema(client, { dir: migrations.clickhouse, database });
      },
    };
  };

  return {
    async serverClient(tenantName) {
      const tenant = find(tenantName);
      const client = await connect(tenant, "default");
      await reaching(tenant, options.signal, () =>
        readRows(client, { query: "SELECT 1", params: {} }, options.signal),
      );
      return client;
    },
    open: (tenantName) => onceFor(opened, tenantName, () => openTenant(tenantName)),
    async close() {
      isClosed = true;
      await Promise.all([...clients].map(disconnect));
    },
  };
}

/** The first statement to a tenant's server. An unusable server is reported together with the setting that names it. */
async function reaching<Result>(
  tenant: TenantConfig,
  signal: AbortSignal | undefined,
  run: () => Promise<Result>,
): Promise<Result> {
  const { tenant_name, storage } = tenant;
  try {
    return await run();
  } catch (error) {
    if (storage.kind === "embedded" || error instanceof MigrationRefused || signal?.aborted) throw error;
    throw new StoreNotOpenedError(
      `tenants.${tenant_name}.storage.connection_string`,
      describeStorage(storage),
      error,
    );
  }
}

/**
 * Returns the promise for the key, and creates it if there is none. A failed one is removed, so that the next call
 * tries again.
 */
function onceFor<Value>(cache: Map<string, Promise<Value>>, key: string, make: () => Promise<Value>) {
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const making = make();
  cache.set(key, making);
  making.catch(() => cache.delete(key));
  return making;
}

function locationOf({ storage }: TenantConfig, dataDir: string): StoreLocation {
  const isEmbedded = storage.kind === "embedded";
  const address = isEmbedded
    ? `${storage.database} in ${resolve(dataDir)} on host ${hostname()}`
    : describeStorage(storage);
  return { name: address, isEmbedded };
}

import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Config, TenantConfig } from "../config/config.js";
import { projectRoot } from "../config/project.js";
import { storageKey } from "../config/storage.js";
import { openClickHouseClient } from "./clickhouse/client.js";
import { createEmbeddedClickHouse, type EmbeddedClickHouse } from "./clickhouse/embedded/supervisor.js";
import { migrateClickHouse } from "./clickhouse/migrate.js";
import { claimDataDir, type DataDirClaim } from "./data-dir.js";
import { openPostgres } from "./postgres/client.js";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./postgres/embedded.js";
import { migratePostgres } from "./postgres/migrate.js";
import type { Stores, TenantStore } from "./stores.js";

/**
 * Opens the stores of a configuration, in the order that start-up needs: the data directory is claimed before anything in it is
 * touched, Postgres is migrated before anybody asks it for a lock, a tenant's store is opened when it is first asked
 * for. What was opened is closed again when a later step fails.
 */
export interface OpenStoresOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly signal?: AbortSignal;
  /** Leaves schemas as they are: for commands that only look at them. */
  readonly skipMigrations?: boolean;
}

export interface OpenedStores extends Stores {
  /** Undefined while no tenant is embedded and nothing needed it. */
  readonly embeddedClickHouse: EmbeddedClickHouse | undefined;
  /** Only this process can be using the state in Postgres. */
  readonly ownsPostgres: boolean;
  /** Client of a tenant's store whose database need not exist yet. */
  serverClient(tenantName: string): Promise<ClickHouseClient>;
}

/** Folders of the migrations, beside the code. */
export const migrationFolders = {
  postgres: join(projectRoot(), "migrations", "postgres"),
  clickhouse: join(projectRoot(), "migrations", "clickhouse"),
};

export async function openStores(options: OpenStoresOptions): Promise<OpenedStores> {
  const { config, logger } = options;
  const closers: (() => Promise<void> | void)[] = [];
  const close = async () => {
    for (const each of closers.splice(0).reverse()) await each();
  };
  try {
    const claim = claimIfEmbedded(config);
    if (claim) closers.push(() => claim.release());
    const embedded = await startPostgres(options);
    if (embedded) closers.push(() => embedded.stop());
    const postgres = openPostgres(postgresConnection(config, embedded), { logger, max: 20 });
    closers.push(() => postgres.end());
    if (!options.skipMigrations) {
      await migratePostgres(postgres, { dir: migrationFolders.postgres, logger, signal: options.signal });
    }
    const clickhouse = embeddedClickHouse(options);
    if (clickhouse) closers.push(() => clickhouse.stop());
    const tenants = tenantStores(options, postgres, clickhouse);
    closers.push(() => tenants.close());
    return {
      postgres,
      embeddedClickHouse: clickhouse,
      ownsPostgres: embedded !== undefined,
      tenant: tenants.open,
      serverClient: tenants.serverClient,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function isEmbedded(tenant: TenantConfig): boolean {
  return tenant.storage.kind === "embedded";
}

function claimIfEmbedded(config: Config): DataDirClaim | undefined {
  const embedded = config.postgres.kind === "embedded" || [...config.tenants.values()].some(isEmbedded);
  return embedded ? claimDataDir(config.data_dir) : undefined;
}

async function startPostgres(options: OpenStoresOptions): Promise<EmbeddedPostgres | undefined> {
  if (options.config.postgres.kind !== "embedded") return undefined;
  return await startEmbeddedPostgres({
    dataDir: options.config.data_dir,
    logger: options.logger,
    signal: options.signal,
  });
}

function postgresConnection(config: Config, embedded: EmbeddedPostgres | undefined) {
  if (embedded !== undefined) return embedded.connection;
  if (config.postgres.kind === "server") return { connectionString: config.postgres.connection_string };
  throw new Error("the embedded Postgres was not started");
}

function embeddedClickHouse({ config, logger }: OpenStoresOptions): EmbeddedClickHouse | undefined {
  if (![...config.tenants.values()].some(isEmbedded)) return undefined;
  const { sql_port: port, sql_user: user, sql_password: password } = config.embedded;
  const sqlPort =
    port === undefined || user === undefined || password === undefined ? undefined : { port, user, password };
  return createEmbeddedClickHouse({
    dataDir: join(config.data_dir, "clickhouse"),
    logger,
    ...(sqlPort && { sqlPort }),
  });
}

/** Tenants' stores by name, each opened and migrated once; a failed opening is forgotten, so that the next call tries again. */
function tenantStores(options: OpenStoresOptions, postgres: Pool, embedded: EmbeddedClickHouse | undefined) {
  const opened = new Map<string, Promise<TenantStore>>();
  const clients: ClickHouseClient[] = [];

  const clientFor = async (tenant: TenantConfig, database: string): Promise<ClickHouseClient> => {
    const { storage } = tenant;
    if (storage.kind === "embedded" && embedded === undefined)
      throw new Error("the embedded store is not configured");
    const address = storage.kind === "embedded" ? await embedded?.endpoint() : storage;
    if (address === undefined) throw new Error("the embedded store is not configured");
    const { url, username, password } = address;
    const client = openClickHouseClient({
      url,
      username,
      password,
      database,
      applicationName: "chargehouse",
    });
    clients.push(client);
    return client;
  };

  const find = (tenantName: string): TenantConfig => {
    const tenant = options.config.tenants.get(tenantName);
    if (tenant === undefined) throw new Error(`unknown tenant ${tenantName}`);
    return tenant;
  };

  const openTenant = async (tenantName: string): Promise<TenantStore> => {
    const tenant = find(tenantName);
    const { database } = tenant.storage;
    if (!options.skipMigrations) {
      const server = await clientFor(tenant, "default");
      await migrateClickHouse(server, {
        dir: migrationFolders.clickhouse,
        database,
        lock: postgres,
        address: storageKey(tenant.storage),
        logger: options.logger,
        signal: options.signal,
      });
    }
    const client = await clientFor(tenant, database);
    return { tenantName, tenantId: tenant.tenant_id, ecosystem: tenant.ecosystem, client, database };
  };

  return {
    serverClient: async (tenantName: string) => await clientFor(find(tenantName), "default"),
    open: (tenantName: string): Promise<TenantStore> => {
      const known = opened.get(tenantName);
      if (known !== undefined) return known;
      const opening = openTenant(tenantName);
      opened.set(tenantName, opening);
      opening.catch(() => opened.delete(tenantName));
      return opening;
    },
    close: async () => {
      await Promise.all(clients.splice(0).map((client) => client.close()));
    },
  };
}

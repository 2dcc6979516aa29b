import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Config, TenantConfig } from "../config/config.js";
import { describePostgres } from "../config/postgres.js";
import { projectRoot } from "../config/project.js";
import { createEmbeddedClickHouse, type EmbeddedClickHouse } from "./clickhouse/embedded/supervisor.js";
import { claimDataDir, type DataDirClaim, DataDirInUse } from "./data-dir.js";
import { createStoreOwners } from "./facts/store-owners.js";
import { openPostgres } from "./postgres/client.js";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./postgres/embedded.js";
import { migratePostgres } from "./postgres/migrate.js";
import { createPublishLock } from "./publish-lock.js";
import { sqlListenerOf } from "./sql-listener.js";
import { StoreNotOpenedError } from "./store-not-opened.js";
import type { RunStores } from "./stores.js";
import { createTenantStores } from "./tenant-stores.js";
import { refuseUnfinishedRestore } from "./unfinished-restore.js";

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
  /** Opens a data directory that is being restored. */
  readonly restoring?: boolean;
  /** Opens the configured port for SQL clients: for the service alone, which stays. */
  readonly opensSqlPort?: boolean;
}

export interface OpenedStores extends RunStores {
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
  const close = async () => await closeAll(closers.splice(0).reverse());
  try {
    const claim = claimIfEmbedded(config);
    if (claim) closers.push(() => claim.release());
    if (claim && !options.restoring) refuseUnfinishedRestore(claim.dataDir);
    const embedded = await startPostgres(options);
    if (embedded) closers.push(() => embedded.stop());
    const postgres = openPostgres(postgresConnection(config, embedded), {
      ...{ logger, max: 20 },
      outage: () => embedded?.outage,
    });
    closers.push(() => postgres.end());
    await reachPostgres(postgres, config.postgres);
    if (!options.skipMigrations) {
      await migratePostgres(postgres, { dir: migrationFolders.postgres, logger, signal: options.signal });
    }
    const clickhouse = embeddedClickHouse(options);
    if (clickhouse) closers.push(() => clickhouse.stop());
    const migrations = options.skipMigrations ? undefined : migrationFolders;
    const tenants = createTenantStores({ ...options, postgres, embedded: clickhouse, migrations });
    closers.push(() => tenants.close());
    const holders = createStoreOwners(postgres, logger);
    closers.push(() => holders.release());
    return {
      postgres,
      embeddedClickHouse: clickhouse,
      ownsPostgres: embedded !== undefined,
      holders,
      gate: createPublishLock(),
      tenant: tenants.open,
      serverClient: tenants.serverClient,
      close,
    };
  } catch (error) {
    // What started all this is what the operator has to know of.
    await close().catch((failure: unknown) => logger.warn({ err: failure }, "could not close a store"));
    throw error;
  }
}

/** One that cannot be closed does not keep the others open. */
async function closeAll(closers: readonly (() => Promise<void> | void)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const each of closers) {
    try {
      await each();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

function isEmbedded(tenant: TenantConfig): boolean {
  return tenant.storage.kind === "embedded";
}

function claimIfEmbedded(config: Config): DataDirClaim | undefined {
  const embedded = config.postgres.kind === "embedded" || [...config.tenants.values()].some(isEmbedded);
  if (!embedded) return undefined;
  try {
    return claimDataDir(config.data_dir);
  } catch (error) {
    if (error instanceof DataDirInUse) throw error;
    throw new StoreNotOpenedError("data_dir", config.data_dir, error);
  }
}

async function startPostgres(options: OpenStoresOptions): Promise<EmbeddedPostgres | undefined> {
  if (options.config.postgres.kind !== "embedded") return undefined;
  return await startEmbeddedPostgres({
    dataDir: options.config.data_dir,
    logger: options.logger,
    signal: options.signal,
  });
}

/** A server that cannot be used is told as the setting that names it. */
async function reachPostgres(postgres: Pool, target: Config["postgres"]): Promise<void> {
  if (target.kind === "embedded") return;
  try {
    (await postgres.connect()).release();
  } catch (error) {
    throw new StoreNotOpenedError("postgres.connection_string", describePostgres(target), error);
  }
}

function postgresConnection(config: Config, embedded: EmbeddedPostgres | undefined) {
  if (embedded !== undefined) return embedded.connection;
  if (config.postgres.kind === "server") return { connectionString: config.postgres.connection_string };
  throw new Error("the embedded Postgres was not started");
}

function embeddedClickHouse({
  config,
  logger,
  opensSqlPort,
  signal,
}: OpenStoresOptions): EmbeddedClickHouse | undefined {
  if (![...config.tenants.values()].some(isEmbedded)) return undefined;
  return createEmbeddedClickHouse({
    dataDir: join(config.data_dir, "clickhouse"),
    ...{ logger, signal },
    sqlPort: opensSqlPort ? sqlListenerOf(config) : undefined,
  });
}

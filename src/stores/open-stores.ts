import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { projectRoot } from "../common/project.js";
import { StoreNotOpenedError } from "../common/store-not-opened.js";
import type { Config, TenantConfig } from "../config/config.js";
import { describePostgres } from "../config/settings/postgres.js";
import {
  createEmbeddedClickHouse,
  type EmbeddedClickHouse,
  sqlListenerOf,
} from "../embedded-clickhouse/index.js";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../embedded-postgres/index.js";
import { openPostgres } from "../postgres/client.js";
import { migratePostgres } from "../postgres/migrate.js";
import { createBackupLock } from "./backup-lock.js";
import { claimDataDir, type DataDirClaim, DataDirInUseError } from "./data-dir.js";
import { createStoreOwners } from "./facts/store-owners.js";
import type { RunStores } from "./stores.js";
import { createTenantStores } from "./tenant-stores.js";
import { refuseUnfinishedRestore } from "./unfinished-restore.js";

/**
 * Opens the stores of a configuration, in the order that start-up needs: the data directory is claimed before anything
 * in it is touched, Postgres is migrated before any code takes a lock in it, and a tenant's store is opened at its
 * first use. If a step fails, everything opened before is closed.
 */
export interface OpenStoresOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly signal?: AbortSignal;
  /** Leaves schemas unchanged, for commands that only inspect them. */
  readonly skipMigrations?: boolean;
  /** Opens a data directory that is being restored. */
  readonly restoring?: boolean;
  /**
   * Opens the configured port for SQL clients, and starts the engine beside Postgres instead of on first use. Only the
   * service does: it keeps running, and opens the stores of all tenants at once.
   */
  readonly isService?: boolean;
}

export interface OpenedStores extends RunStores {
  /** Undefined if no tenant uses the embedded ClickHouse. */
  readonly embeddedClickHouse: EmbeddedClickHouse | undefined;
  /** True if no other process can use the state in Postgres. */
  readonly ownsPostgres: boolean;
  /** Returns a client of the tenant's server. The tenant's database need not exist yet. */
  serverClient(tenantName: string): Promise<ClickHouseClient>;
}

/** Folders of the migrations, which are shipped with the code. */
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
    const clickhouse = embeddedClickHouse(options);
    if (clickhouse) closers.push(() => clickhouse.stop());
    // Opening a store reports a failure.
    if (options.isService) clickhouse?.endpoint().catch(() => undefined);
    const embedded = await startPostgres(options);
    if (embedded) closers.push(() => embedded.stop());
    const postgres = openPostgres(postgresConnection(config, embedded), {
      logger,
      max: 20,
      outage: () => embedded?.outage,
    });
    closers.push(() => postgres.end());
    await reachPostgres(postgres, config.postgres);
    if (!options.skipMigrations) {
      await migratePostgres(postgres, { dir: migrationFolders.postgres, logger, signal: options.signal });
    }
    const migrations = options.skipMigrations ? undefined : migrationFolders;
    const tenants = createTenantStores({ ...options, postgres, embedded: clickhouse, migrations });
    closers.push(() => tenants.close());
    const owners = createStoreOwners(postgres, logger);
    closers.push(() => owners.release());
    return {
      postgres,
      embeddedClickHouse: clickhouse,
      ownsPostgres: embedded !== undefined,
      owners,
      backupLock: createBackupLock(),
      tenant: tenants.open,
      serverClient: tenants.serverClient,
      close,
    };
  } catch (error) {
    // Report the first error: it is the cause that the operator needs.
    await close().catch((failure: unknown) => logger.warn({ err: failure }, "could not close a store"));
    throw error;
  }
}

/** Closes all, even if one fails. Throws the first failure. */
async function closeAll(closers: readonly (() => Promise<void> | void)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers) {
    try {
      await close();
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
    if (error instanceof DataDirInUseError) throw error;
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

/** An unusable server is reported together with the setting that names it. */
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
  isService,
  signal,
}: OpenStoresOptions): EmbeddedClickHouse | undefined {
  if (![...config.tenants.values()].some(isEmbedded)) return undefined;
  return createEmbeddedClickHouse({
    dataDir: join(config.data_dir, "clickhouse"),
    logger,
    signal,
    sqlPort: isService ? sqlListenerOf(config) : undefined,
  });
}

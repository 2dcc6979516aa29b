import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { readMigrationFiles } from "../common/migrate/migration-files.js";
import { planMigrations } from "../common/migrate/plan.js";
import { pendingOrRefuse } from "../common/migrate/report.js";
import { StoreNotOpenedError } from "../common/store-not-opened.js";
import type { Config } from "../config/config.js";
import { ledgers } from "../domain/ledger.js";
import { migratePostgres } from "../postgres/migrate.js";
import { runStatement } from "../postgres/statement.js";
import { withTransaction } from "../postgres/transaction.js";
import { expireLeases } from "../runner/sql/leases.js";
import { migrateClickHouse } from "../stores/migrate-clickhouse.js";
import { migrationFolders, type OpenedStores, openStores } from "../stores/open-stores.js";
import { beginRestore, endRestore } from "../stores/unfinished-restore.js";
import { restoreDatabase, withEngine } from "./clickhouse-databases.js";
import { checkDigests } from "./files.js";
import { type Manifest, readManifest } from "./manifest.js";
import { loadTables } from "./postgres-tables.js";
import { BackupRefusedError } from "./take-backup.js";

export interface RestoreBackup {
  readonly config: Config;
  /** Folder of the backup. It is only read. */
  readonly folder: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Folders of the migrations. Default: the project's own. */
  readonly migrations?: typeof migrationFolders;
}

/** Entries that a new volume contains. */
const NO_DATA = new Set(["lost+found"]);

/**
 * Creates the data directory from a backup. First, everything about the backup is checked. The directory must be empty.
 * It is marked as unfinished until both stores are complete, and emptied again if the restore fails.
 */
export async function restoreBackup({
  config,
  folder,
  logger,
  signal,
  migrations = migrationFolders,
}: RestoreBackup): Promise<Manifest> {
  const manifest = await readManifest(folder);
  await refuseNewer(manifest, migrations);
  await checkDigests(folder, manifest, signal);
  const dataDir = config.data_dir;
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error) => {
    throw new StoreNotOpenedError("data_dir", dataDir, error);
  });
  if ((await entriesOf(dataDir)).length > 0)
    throw new BackupRefusedError(
      `The data directory ${dataDir} is not empty: restore into an empty one. To return to a backup, stop the service and move the folder's content away.`,
    );
  await beginRestore(dataDir);
  try {
    const stores = await openStores({ config, logger, signal, skipMigrations: true, restoring: true });
    try {
      await fill(stores, manifest, { folder, logger, signal, migrations });
    } finally {
      await stores.close();
    }
  } catch (error) {
    for (const entry of await entriesOf(dataDir))
      await rm(join(dataDir, entry), { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
  await endRestore(dataDir);
  return manifest;
}

async function entriesOf(dataDir: string): Promise<string[]> {
  return (await readdir(dataDir)).filter((entry) => !NO_DATA.has(entry));
}

/** Throws `MigrationRefused` if this version of the code does not know a schema of the backup. */
async function refuseNewer(
  { postgres, clickhouse }: Manifest,
  migrations: typeof migrationFolders,
): Promise<void> {
  const known = {
    postgres: await readMigrationFiles(migrations.postgres),
    clickhouse: await readMigrationFiles(migrations.clickhouse),
  };
  pendingOrRefuse("postgres", planMigrations(known.postgres, postgres.revisions));
  for (const { database, revisions } of clickhouse)
    pendingOrRefuse(`clickhouse/${database}`, planMigrations(known.clickhouse, revisions));
}

type Fill = Required<Omit<RestoreBackup, "config">>;

async function fill(
  stores: OpenedStores,
  manifest: Manifest,
  { folder, logger, signal, migrations }: Fill,
): Promise<void> {
  const { postgres, embeddedClickHouse: engine } = stores;
  if (engine === undefined || !stores.ownsPostgres)
    throw new BackupRefusedError("Only embedded stores are restored.");
  const dir = migrations.postgres;
  await migratePostgres(postgres, { dir, upTo: manifest.postgres.revisions.length, logger, signal });
  await withTransaction(postgres, async (on) => {
    await runStatement(on, { query: "SET LOCAL statement_timeout = 0", params: [] });
    await loadTables(on, join(folder, "postgres"), manifest.postgres);
  });
  await migratePostgres(postgres, { dir, logger, signal });
  await endRuns(postgres);
  await runStatement(postgres, { query: "ANALYZE", params: [] });
  await withEngine(engine, async (client: ClickHouseClient) => {
    for (const entry of manifest.clickhouse) {
      const { database } = entry;
      await restoreDatabase(client, join(folder, "clickhouse"), entry, signal);
      await migrateClickHouse(client, {
        database,
        postgres: postgres,
        logger,
        signal,
        dir: migrations.clickhouse,
      });
    }
  });
}

/**
 * Ends the runs that were in progress when the backup was taken. What they were staging may be half a day, so it is
 * discarded and gathered again. Days whose publish was cut off between its intent and its result stay staged, because
 * they are not gathered again.
 */
async function endRuns(postgres: Pool): Promise<void> {
  const interrupted = "tenant_name IN (SELECT tenant_name FROM runs WHERE status IN ('queued', 'running'))";
  await withTransaction(postgres, async (on) => {
    for (const { state } of Object.values(ledgers))
      await runStatement(on, {
        query: `UPDATE ${state} SET staged_hash = NULL WHERE publishing_hash IS NULL AND ${interrupted}`,
        params: [],
      });
    await runStatement(on, {
      query: `UPDATE tenants SET last_gather_at = NULL WHERE ${interrupted}`,
      params: [],
    });
    await runStatement(on, expireLeases());
    await runStatement(on, { query: "DELETE FROM fact_store_holders", params: [] });
  });
}

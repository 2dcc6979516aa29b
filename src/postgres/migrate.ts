/**
 * Migrates Postgres by `migrations/postgres/NNNN_name.sql`. node-pg-migrate applies each file in one transaction.
 *
 * We add what it lacks: a checksum for each migration, written in the same transaction, and the checks of
 * `common/migrate/plan.ts` before anything runs. We take the advisory lock of node-pg-migrate before we read which
 * migrations were applied, and hold it to the end. A connection can take a lock twice, so node-pg-migrate gets it as well.
 */
import { basename } from "node:path";
import { escapeValue, PG_MIGRATE_LOCK_ID, runner } from "node-pg-migrate";
import type pg from "pg";
import type { Logger } from "pino";
import { fileName, type MigrationFile, readMigrationFiles } from "../common/migrate/migration-files.js";
import { type AppliedMigration, planMigrations } from "../common/migrate/plan.js";
import {
  MigrationFailed,
  MigrationRefused,
  type MigrationReport,
  type MigrationStatus,
  migrationStatus,
  pendingOrRefuse,
} from "../common/migrate/report.js";
import { withAdvisoryLock } from "./advisory-lock.js";

export interface PostgresMigrationOptions {
  /** The folder with the `.sql` files. */
  dir: string;
  /** Maximum number of migrations that the schema will have. Default: all. */
  upTo?: number | undefined;
  logger: Logger;
  signal?: AbortSignal | undefined;
}

const STORE = "postgres";
/** The table of node-pg-migrate (id, name, run_on), and ours beside it. */
const MIGRATIONS = "schema_migrations";
const CHECKSUMS = "schema_migration_checksums";

const CREATE_CHECKSUMS = `
  CREATE TABLE IF NOT EXISTS public.${CHECKSUMS} (
    name       varchar(255) PRIMARY KEY,
    checksum   text         NOT NULL,
    applied_at timestamptz  NOT NULL DEFAULT now()
  )`;

/**
 * Brings the schema up to date. Throws `MigrationRefused`, before it changes anything, if the schema is not one that this
 * version can migrate.
 */
export async function migratePostgres(
  pool: pg.Pool,
  options: PostgresMigrationOptions,
): Promise<MigrationReport> {
  const started = Date.now();
  const known = (await readMigrationFiles(options.dir)).slice(0, options.upTo);
  const applied = await withAdvisoryLock(pool, BigInt(PG_MIGRATE_LOCK_ID), options, async (holder) => {
    const pending = pendingOrRefuse(STORE, planMigrations(known, await readPostgresMigrations(holder)));
    if (pending.length > 0) await apply(holder, known, pending.length, options);
    return pending.map(fileName);
  });
  return { store: STORE, applied, duration_ms: Date.now() - started };
}

/** Returns the rows of `migrate --status`. Changes nothing, even if the database was never migrated. */
export async function postgresMigrationStatus(pool: pg.Pool, dir: string): Promise<MigrationStatus[]> {
  const known = await readMigrationFiles(dir);
  const client = await pool.connect();
  try {
    return migrationStatus(STORE, planMigrations(known, await readPostgresMigrations(client)));
  } finally {
    client.release();
  }
}

/** Throws `MigrationRefused` if the schema is not that of this version. */
export async function checkPostgresSchema(pool: pg.Pool, dir: string): Promise<void> {
  const known = await readMigrationFiles(dir);
  const client = await pool.connect();
  try {
    pendingOrRefuse(STORE, planMigrations(known, await readPostgresMigrations(client)));
  } finally {
    client.release();
  }
}

async function apply(
  dbClient: pg.PoolClient,
  known: readonly MigrationFile[],
  count: number,
  { dir, logger, signal }: PostgresMigrationOptions,
): Promise<void> {
  await dbClient.query(CREATE_CHECKSUMS);
  const byName = new Map(known.map((revision) => [fileName(revision), revision]));
  let current: MigrationFile | undefined;
  // The text that was checked is the text that runs: node-pg-migrate lists the files and does not read them.
  const actionsOf = (path: string): LoadedActions => ({
    up: (pgm) => {
      signal?.throwIfAborted();
      current = byName.get(basename(path, ".sql"));
      if (current === undefined) throw new Error(`${path} appeared while migrating`);
      logger.info({ store: STORE, revision: fileName(current) }, "applying a migration");
      pgm.sql(current.sql);
      const row = [fileName(current), current.checksum].map((value) => escapeValue(value)).join(", ");
      pgm.sql(`INSERT INTO public.${CHECKSUMS} (name, checksum) VALUES (${row})`);
    },
    down: false,
  });
  const debug = (text: string) => logger.debug({ store: STORE }, text);
  try {
    await runner({
      dbClient,
      dir,
      direction: "up",
      count,
      migrationsTable: MIGRATIONS,
      logger: { info: debug, warn: debug, error: debug },
      ignorePattern: "(?:\\..*|(?!.*\\.sql$).*)",
      migrationLoaderStrategies: [
        {
          extensions: [".sql"],
          loader: async (paths) =>
            paths.map((path) => ({ id: path, filePaths: [path], actions: actionsOf(path) })),
        },
      ],
    });
  } catch (error) {
    if (current === undefined) throw error;
    throw new MigrationFailed(STORE, current, error);
  }
}

interface LoadedActions {
  up: (pgm: { sql(text: string): void }) => void;
  down: false;
}

/** A fresh database has neither of the two tables. After a command of node-pg-migrate, it has only the first. */
const FIND_TABLES = `
  SELECT to_regclass('public.${MIGRATIONS}') IS NOT NULL AS migrations, to_regclass('public.${CHECKSUMS}') IS NOT NULL AS checksums`;

// run_on has no zone: node-pg-migrate wrote now() in the zone of its session. We assume that it was the same as ours.
const READ_MIGRATIONS = `
  SELECT name, run_on AT TIME ZONE current_setting('TimeZone') AS applied_at
  FROM public.${MIGRATIONS} ORDER BY id`;
const READ_CHECKSUMS = `SELECT name, checksum FROM public.${CHECKSUMS}`;

/** Returns the migrations that were applied to the database. */
export async function readPostgresMigrations(client: pg.PoolClient): Promise<AppliedMigration[]> {
  const found = (await client.query<{ migrations: boolean; checksums: boolean }>(FIND_TABLES)).rows[0];
  if (found?.migrations !== true) return [];
  const { rows } = await client.query<{ name: string; applied_at: Date }>(READ_MIGRATIONS);
  const recorded = found.checksums
    ? (await client.query<{ name: string; checksum: string }>(READ_CHECKSUMS)).rows
    : [];
  const checksums = new Map(recorded.map((row) => [row.name, row.checksum]));
  return rows.map((row) => {
    const [, revision, name] = /^(\d+)_(.+)$/.exec(row.name) ?? [];
    if (revision === undefined || name === undefined) {
      throw new MigrationRefused(
        STORE,
        `its table ${MIGRATIONS} has ${row.name}, which is no migration of chargehouse`,
      );
    }
    return {
      revision,
      name,
      checksum: checksums.get(row.name) ?? null,
      applied_at: row.applied_at.toISOString(),
    };
  });
}

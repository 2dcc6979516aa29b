/**
 * Migrations of Postgres: `migrations/postgres/NNNN_name.sql`, applied by node-pg-migrate, each file in one transaction.
 *
 * We add what it lacks: a checksum for each revision, written in the same transaction, and the checks of `../migrate/plan.ts`
 * before anything runs. Its own advisory lock is taken before the ledger is read and held to the end. Such locks are counted
 * within a connection, so node-pg-migrate, on the same connection, gets it as well.
 */
import { basename } from "node:path";
import { escapeValue, PG_MIGRATE_LOCK_ID, runner } from "node-pg-migrate";
import type pg from "pg";
import type { Logger } from "pino";
import { type AppliedRevision, planMigrations } from "../common/migrate/plan.js";
import {
  MigrationFailed,
  MigrationRefused,
  type MigrationReport,
  type MigrationStatus,
  migrationStatus,
  pendingOrRefuse,
} from "../common/migrate/report.js";
import { fileName, type Revision, readRevisions } from "../common/migrate/revisions.js";
import { withAdvisoryLock } from "./advisory-lock.js";

export interface PostgresMigrationOptions {
  /** The folder with the `.sql` files. */
  dir: string;
  /** How many revisions the schema is to have at most; all by default. */
  upTo?: number | undefined;
  logger: Logger;
  signal?: AbortSignal | undefined;
}

const STORE = "postgres";
/** The ledger of node-pg-migrate (id, name, run_on), and ours beside it. */
const LEDGER = "schema_migrations";
const CHECKSUMS = "schema_migration_checksums";

const CREATE_CHECKSUMS = `
  CREATE TABLE IF NOT EXISTS public.${CHECKSUMS} (
    name       varchar(255) PRIMARY KEY,
    checksum   text         NOT NULL,
    applied_at timestamptz  NOT NULL DEFAULT now()
  )`;

/** Brings the schema up to date. Throws `MigrationRefused`, before anything is touched, when it and the code do not fit. */
export async function migratePostgres(
  pool: pg.Pool,
  options: PostgresMigrationOptions,
): Promise<MigrationReport> {
  const started = Date.now();
  const known = (await readRevisions(options.dir)).slice(0, options.upTo);
  const applied = await withAdvisoryLock(pool, BigInt(PG_MIGRATE_LOCK_ID), options, async (holder) => {
    const pending = pendingOrRefuse(STORE, planMigrations(known, await readPostgresLedger(holder)));
    if (pending.length > 0) await apply(holder, known, pending.length, options);
    return pending.map(fileName);
  });
  return { store: STORE, applied, duration_ms: Date.now() - started };
}

/** What `migrate --status` shows. Changes nothing, also on a database that was never migrated. */
export async function postgresMigrationStatus(pool: pg.Pool, dir: string): Promise<MigrationStatus[]> {
  const known = await readRevisions(dir);
  const client = await pool.connect();
  try {
    return migrationStatus(STORE, planMigrations(known, await readPostgresLedger(client)));
  } finally {
    client.release();
  }
}

/** Throws `MigrationRefused` when the schema and the code do not fit. */
export async function checkPostgresSchema(pool: pg.Pool, dir: string): Promise<void> {
  const known = await readRevisions(dir);
  const client = await pool.connect();
  try {
    pendingOrRefuse(STORE, planMigrations(known, await readPostgresLedger(client)));
  } finally {
    client.release();
  }
}

async function apply(
  dbClient: pg.PoolClient,
  known: readonly Revision[],
  count: number,
  { dir, logger, signal }: PostgresMigrationOptions,
): Promise<void> {
  await dbClient.query(CREATE_CHECKSUMS);
  const byName = new Map(known.map((revision) => [fileName(revision), revision]));
  let current: Revision | undefined;
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
      migrationsTable: LEDGER,
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

/** Which of the two tables are there: neither on a fresh database, the first alone after the command of node-pg-migrate. */
const FIND_LEDGER = `
  SELECT to_regclass('public.${LEDGER}') IS NOT NULL AS ledger, to_regclass('public.${CHECKSUMS}') IS NOT NULL AS checksums`;

// run_on has no zone: node-pg-migrate wrote now() in the zone of its session, taken to be that of this one.
const READ_LEDGER = `
  SELECT name, run_on AT TIME ZONE current_setting('TimeZone') AS applied_at
  FROM public.${LEDGER} ORDER BY id`;
const READ_CHECKSUMS = `SELECT name, checksum FROM public.${CHECKSUMS}`;

/** What was applied to the database: nothing where no migration was. */
export async function readPostgresLedger(client: pg.PoolClient): Promise<AppliedRevision[]> {
  const found = (await client.query<{ ledger: boolean; checksums: boolean }>(FIND_LEDGER)).rows[0];
  if (found?.ledger !== true) return [];
  const { rows } = await client.query<{ name: string; applied_at: Date }>(READ_LEDGER);
  const recorded = found.checksums
    ? (await client.query<{ name: string; checksum: string }>(READ_CHECKSUMS)).rows
    : [];
  const checksums = new Map(recorded.map((row) => [row.name, row.checksum]));
  return rows.map((row) => {
    const [, revision, name] = /^(\d+)_(.+)$/.exec(row.name) ?? [];
    if (revision === undefined || name === undefined) {
      throw new MigrationRefused(
        STORE,
        `its ledger ${LEDGER} has ${row.name}, which is no revision of chargehouse`,
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

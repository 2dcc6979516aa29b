/**
 * Migrates one tenant's ClickHouse database by `migrations/clickhouse/NNNN_name.sql`, with the same rules as Postgres.
 *
 * ClickHouse has no transactions for this. Therefore each statement of a file can be run again (`IF NOT EXISTS`), and the
 * file is recorded after its last statement. Running the file again repairs a crash in between.
 *
 * ClickHouse has no locks either. An advisory lock of Postgres keeps two processes from migrating a database at once.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type pg from "pg";
import type { Logger } from "pino";
import { untilMutationsEnd } from "../clickhouse/mutations.js";
import { createOnCluster } from "../clickhouse/replicas/cluster.js";
import { replicated } from "../clickhouse/replicas/replicated-sql.js";
import { readRows } from "../clickhouse/statement.js";
import { fileName, type MigrationFile, readMigrationFiles } from "../common/migrate/migration-files.js";
import { type AppliedMigration, planMigrations } from "../common/migrate/plan.js";
import {
  MigrationFailed,
  type MigrationReport,
  type MigrationStatus,
  migrationStatus,
  pendingOrRefuse,
} from "../common/migrate/report.js";
import { splitStatements } from "../common/migrate/statements.js";
import { lockKey, withAdvisoryLock } from "../postgres/advisory-lock.js";
import { runStatement } from "../postgres/statement.js";

export interface ClickHouseMigrationOptions {
  /** The folder with the `.sql` files. */
  dir: string;
  /** The tenant's database. It is created if it is missing. The client may be for this database or for another. */
  database: string;
  /** The Postgres whose advisory lock is held during the migration. */
  postgres: pg.Pool;
  /** Normalised address of the store. The lock's name contains it. Default: the name of the database. */
  address?: string | undefined;
  /** The cluster whose replicas hold the database. */
  cluster?: string | undefined;
  logger: Logger;
  signal?: AbortSignal | undefined;
}

/**
 * Brings the database up to date. Throws `MigrationRefused`, before it changes anything, if the database's schema is not
 * one that this version can migrate.
 */
export async function migrateClickHouse(
  client: ClickHouseClient,
  options: ClickHouseMigrationOptions,
): Promise<MigrationReport> {
  const started = Date.now();
  const { database, logger, signal } = options;
  const store = storeOf(database);
  const known = await readMigrationFiles(options.dir);
  // Check for pending migrations before taking the lock. Otherwise a store that does not respond would hold a connection
  // to Postgres.
  const plan = planMigrations(known, await readClickHouseMigrations(client, database, signal));
  if (pendingOrRefuse(store, plan).length === 0)
    return { store, applied: [], duration_ms: Date.now() - started };
  const key = lockKey(`clickhouse migrations ${options.address ?? database}`);
  const applied = await withAdvisoryLock(options.postgres, key, options, async (holder) => {
    const pending = pendingOrRefuse(
      store,
      planMigrations(known, await readClickHouseMigrations(client, database, signal)),
    );
    if (pending.length === 0) return [];
    await createMigrationsTable(client, options);
    for (const revision of pending) {
      await runStatement(holder, { query: "SELECT 1", params: [] }); // fails if the connection, and with it the lock, is lost
      logger.info({ store, revision: fileName(revision) }, "applying a migration");
      await apply(client, options, revision);
    }
    return pending.map(fileName);
  });
  return { store, applied, duration_ms: Date.now() - started };
}

/** Returns the rows of `migrate --status`. Changes nothing, even if the database does not exist. */
export async function clickHouseMigrationStatus(
  client: ClickHouseClient,
  { dir, database, signal }: { dir: string; database: string; signal?: AbortSignal | undefined },
): Promise<MigrationStatus[]> {
  const known = await readMigrationFiles(dir);
  return migrationStatus(
    storeOf(database),
    planMigrations(known, await readClickHouseMigrations(client, database, signal)),
  );
}

/** Throws `MigrationRefused` if the schema is not that of this version. */
export async function checkClickHouseSchema(
  client: ClickHouseClient,
  { dir, database }: { dir: string; database: string },
): Promise<void> {
  const known = await readMigrationFiles(dir);
  pendingOrRefuse(storeOf(database), planMigrations(known, await readClickHouseMigrations(client, database)));
}

const storeOf = (database: string) => `clickhouse/${database}`;

const CREATE_DATABASE = ["CREATE DATABASE IF NOT EXISTS {database:Identifier}"];
const CREATE_MIGRATIONS_TABLE = `
  CREATE TABLE IF NOT EXISTS {database:Identifier}.schema_migrations
  (
      revision   String COMMENT 'Number of the migration file, such as 0001',
      name       String COMMENT 'Name of the migration file without its number',
      checksum   String COMMENT 'SHA-256 of the file, in hex',
      applied_at DateTime64(3, 'UTC') COMMENT 'Time when its last statement succeeded'
  )
  ENGINE = MergeTree
  ORDER BY revision
  COMMENT 'Migrations that were applied to this database'`;

type Target = Pick<ClickHouseMigrationOptions, "database" | "cluster" | "signal">;

const forCluster = (statement: string, { cluster }: Target) =>
  cluster === undefined ? statement : replicated(statement);

async function createMigrationsTable(client: ClickHouseClient, target: Target): Promise<void> {
  const { database, cluster, signal } = target;
  const create =
    cluster === undefined
      ? CREATE_DATABASE
      : await createOnCluster(client, { name: cluster, database }, signal);
  for (const query of [...create, forCluster(CREATE_MIGRATIONS_TABLE, target)]) {
    await client.command({ query, query_params: { database }, ...inDatabase(ANY_DATABASE, signal) });
  }
}

/** Runs the statements in the tenant's database, because they name their tables without one. */
async function apply(client: ClickHouseClient, target: Target, revision: MigrationFile): Promise<void> {
  const { database, signal } = target;
  try {
    for (const statement of splitStatements(revision.sql)) {
      signal?.throwIfAborted();
      // Wait for background work (mutations) of earlier statements, including those of an interrupted attempt.
      await untilMutationsEnd(client, database, signal);
      await client.command({ query: forCluster(statement, target), ...inDatabase(database, signal) });
    }
    await untilMutationsEnd(client, database, signal);
    await client.command({
      query: RECORD_MIGRATION,
      query_params: { revision: revision.revision, name: revision.name, checksum: revision.checksum },
      ...inDatabase(database, signal),
    });
  } catch (error) {
    throw new MigrationFailed(storeOf(database), revision, error);
  }
}

const RECORD_MIGRATION = `
  INSERT INTO schema_migrations
  SELECT {revision:String}, {name:String}, {checksum:String}, now64(3, 'UTC')`;

const FIND_MIGRATIONS_TABLE =
  "SELECT name FROM system.tables WHERE database = {database:String} AND name = 'schema_migrations'";
const READ_MIGRATIONS = `
  SELECT revision, name, checksum, replaceOne(toString(applied_at), ' ', 'T') || 'Z' AS applied_at
  FROM {database:Identifier}.schema_migrations ORDER BY revision, schema_migrations.applied_at LIMIT 1 BY revision`;

/** Returns the migrations that were applied to the database; none if it does not exist. */
export async function readClickHouseMigrations(
  client: ClickHouseClient,
  database: string,
  signal?: AbortSignal,
): Promise<AppliedMigration[]> {
  const { clickhouse_settings } = inDatabase(ANY_DATABASE, signal);
  const read = async <Row>(query: string) =>
    await readRows<Row>(client, { query, params: { database } }, signal, clickhouse_settings);
  const found = await read(FIND_MIGRATIONS_TABLE);
  return found.length > 0 ? await read<AppliedMigration>(READ_MIGRATIONS) : [];
}

/** A database of every server, for requests while the tenant's database is missing. */
const ANY_DATABASE = "default";

/**
 * Sets the database of one request. ClickHouse takes the first HTTP parameter `database`, and settings are sent before
 * the client's own one.
 */
function inDatabase(database: string, abort_signal: AbortSignal | undefined) {
  const clickhouse_settings = { database };
  return abort_signal === undefined ? { clickhouse_settings } : { clickhouse_settings, abort_signal };
}

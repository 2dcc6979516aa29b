/**
 * Migrations of one tenant's ClickHouse database: `migrations/clickhouse/NNNN_name.sql`, by the same rules as Postgres.
 *
 * ClickHouse has no transactions for this. Therefore each statement of a file can be run again (`IF NOT EXISTS` and the like), and
 * the file is recorded after its last statement. Running the file again repairs a crash in between.
 *
 * ClickHouse has no locks either: an advisory lock of Postgres keeps two processes from migrating one database at once.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type pg from "pg";
import type { Logger } from "pino";
import { untilMutationsEnd } from "../clickhouse/mutations.js";
import { createOnCluster } from "../clickhouse/replicas/cluster.js";
import { replicated } from "../clickhouse/replicas/replicated-sql.js";
import { readRows } from "../clickhouse/statement.js";
import { type AppliedRevision, planMigrations } from "../common/migrate/plan.js";
import {
  MigrationFailed,
  type MigrationReport,
  type MigrationStatus,
  migrationStatus,
  pendingOrRefuse,
} from "../common/migrate/report.js";
import { fileName, type Revision, readRevisions } from "../common/migrate/revisions.js";
import { splitStatements } from "../common/migrate/statements.js";
import { lockKey, withAdvisoryLock } from "../postgres/advisory-lock.js";
import { runStatement } from "../postgres/statement.js";

export interface ClickHouseMigrationOptions {
  /** The folder with the `.sql` files. */
  dir: string;
  /** The tenant's database; made when it is missing. The client may be one for this database or for another. */
  database: string;
  /** The Postgres whose advisory lock is held meanwhile. */
  lock: pg.Pool;
  /** The store's normalised address: what the lock is named after. Default: the database's name. */
  address?: string | undefined;
  /** The cluster whose replicas hold the database. */
  cluster?: string | undefined;
  logger: Logger;
  signal?: AbortSignal | undefined;
}

/** Brings the database up to date. Throws `MigrationRefused`, before anything is touched, when it and the code do not fit. */
export async function migrateClickHouse(
  client: ClickHouseClient,
  options: ClickHouseMigrationOptions,
): Promise<MigrationReport> {
  const started = Date.now();
  const { database, logger, signal } = options;
  const store = storeOf(database);
  const known = await readRevisions(options.dir);
  // Nothing to do is found out without the lock: a store that hangs keeps no connection of Postgres.
  const plan = planMigrations(known, await readClickHouseLedger(client, database, signal));
  if (pendingOrRefuse(store, plan).length === 0)
    return { store, applied: [], duration_ms: Date.now() - started };
  const key = lockKey(`clickhouse migrations ${options.address ?? database}`);
  const applied = await withAdvisoryLock(options.lock, key, options, async (holder) => {
    const pending = pendingOrRefuse(
      store,
      planMigrations(known, await readClickHouseLedger(client, database, signal)),
    );
    if (pending.length === 0) return [];
    await createLedger(client, options);
    for (const revision of pending) {
      await runStatement(holder, { query: "SELECT 1", params: [] }); // fails if the connection, and with it the lock, is lost
      logger.info({ store, revision: fileName(revision) }, "applying a migration");
      await apply(client, options, revision);
    }
    return pending.map(fileName);
  });
  return { store, applied, duration_ms: Date.now() - started };
}

/** What `migrate --status` shows. Changes nothing, also when the database does not exist. */
export async function clickHouseMigrationStatus(
  client: ClickHouseClient,
  { dir, database, signal }: { dir: string; database: string; signal?: AbortSignal | undefined },
): Promise<MigrationStatus[]> {
  const known = await readRevisions(dir);
  return migrationStatus(
    storeOf(database),
    planMigrations(known, await readClickHouseLedger(client, database, signal)),
  );
}

/** Throws `MigrationRefused` when the schema and the code do not fit. */
export async function checkClickHouseSchema(
  client: ClickHouseClient,
  { dir, database }: { dir: string; database: string },
): Promise<void> {
  const known = await readRevisions(dir);
  pendingOrRefuse(storeOf(database), planMigrations(known, await readClickHouseLedger(client, database)));
}

const storeOf = (database: string) => `clickhouse/${database}`;

const CREATE_DATABASE = ["CREATE DATABASE IF NOT EXISTS {database:Identifier}"];
const CREATE_LEDGER = `
  CREATE TABLE IF NOT EXISTS {database:Identifier}.schema_migrations
  (
      revision   String COMMENT 'Number of the migration file, as 0001',
      name       String COMMENT 'Name of the migration file without its number',
      checksum   String COMMENT 'SHA-256 of the file, in hex',
      applied_at DateTime64(3, 'UTC') COMMENT 'When its last statement had succeeded'
  )
  ENGINE = MergeTree
  ORDER BY revision
  COMMENT 'Which migrations this database has had'`;

type Target = Pick<ClickHouseMigrationOptions, "database" | "cluster" | "signal">;

const written = (statement: string, { cluster }: Target) =>
  cluster === undefined ? statement : replicated(statement);

async function createLedger(client: ClickHouseClient, target: Target): Promise<void> {
  const { database, cluster, signal } = target;
  const create =
    cluster === undefined
      ? CREATE_DATABASE
      : await createOnCluster(client, { name: cluster, database }, signal);
  for (const query of [...create, written(CREATE_LEDGER, target)]) {
    await client.command({ query, query_params: { database }, ...inDatabase(ANY_DATABASE, signal) });
  }
}

/** A file's statements name their tables without a database: they run in the tenant's. */
async function apply(client: ClickHouseClient, target: Target, revision: Revision): Promise<void> {
  const { database, signal } = target;
  try {
    for (const statement of splitStatements(revision.sql)) {
      signal?.throwIfAborted();
      // A statement may need what the one before does in the background, also one of an attempt that was cut off.
      await untilMutationsEnd(client, database, signal);
      await client.command({ query: written(statement, target), ...inDatabase(database, signal) });
    }
    await untilMutationsEnd(client, database, signal);
    await client.command({
      query: RECORD,
      query_params: { revision: revision.revision, name: revision.name, checksum: revision.checksum },
      ...inDatabase(database, signal),
    });
  } catch (error) {
    throw new MigrationFailed(storeOf(database), revision, error);
  }
}

const RECORD = `
  INSERT INTO schema_migrations
  SELECT {revision:String}, {name:String}, {checksum:String}, now64(3, 'UTC')`;

const FIND_LEDGER =
  "SELECT name FROM system.tables WHERE database = {database:String} AND name = 'schema_migrations'";
const READ_LEDGER = `
  SELECT revision, name, checksum, replaceOne(toString(applied_at), ' ', 'T') || 'Z' AS applied_at
  FROM {database:Identifier}.schema_migrations ORDER BY revision, schema_migrations.applied_at LIMIT 1 BY revision`;

/** What was applied to the database: nothing where it does not exist. */
export async function readClickHouseLedger(
  client: ClickHouseClient,
  database: string,
  signal?: AbortSignal,
): Promise<AppliedRevision[]> {
  const { clickhouse_settings } = inDatabase(ANY_DATABASE, signal);
  const read = async <Row>(query: string) =>
    await readRows<Row>(client, { query, params: { database } }, signal, clickhouse_settings);
  const found = await read(FIND_LEDGER);
  return found.length > 0 ? await read<AppliedRevision>(READ_LEDGER) : [];
}

/** Exists on every server, so that a request can be made while the tenant's database is missing. */
const ANY_DATABASE = "default";

/**
 * The database of one request. The HTTP parameter `database` is sent like a setting; it goes before the one of
 * the client's own configuration, and the first counts.
 */
function inDatabase(database: string, abort_signal: AbortSignal | undefined) {
  const clickhouse_settings = { database };
  return abort_signal === undefined ? { clickhouse_settings } : { clickhouse_settings, abort_signal };
}

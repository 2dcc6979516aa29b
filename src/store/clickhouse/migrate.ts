/**
 * Migrations of one tenant's ClickHouse database: `migrations/clickhouse/NNNN_name.sql`, by the same rules as Postgres.
 *
 * ClickHouse has no transactions for this. Therefore each statement of a file can be run again (`IF NOT EXISTS` and the like), and
 * the file is recorded after its last statement. Running the file again repairs a crash in between.
 *
 * A database without tables gets the baseline instead, if the folder has one: `baseline/NNNN_name.sql` makes at once what all files up to that
 * one make in turn, for a third of the work (docs/decisions/0038-baseline.md). One that was left half made has tables, and the files in turn complete it.
 *
 * ClickHouse has no locks either: an advisory lock of Postgres keeps two processes from migrating one database at once.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type pg from "pg";
import type { Logger } from "pino";
import { type AppliedRevision, planMigrations } from "../migrate/plan.js";
import {
  MigrationFailed,
  type MigrationReport,
  type MigrationStatus,
  pendingOrRefuse,
  statusOf,
} from "../migrate/report.js";
import { fileName, type Revision, readBaseline, readRevisions } from "../migrate/revisions.js";
import { splitStatements } from "../migrate/statements.js";
import { lockKey, withAdvisoryLock } from "../postgres/advisory-lock.js";
import { runStatement } from "../postgres/statement.js";
import { untilMutationsEnd } from "./mutations.js";
import { createOnCluster } from "./replicas/cluster.js";
import { replicated } from "./replicas/replicated-sql.js";
import { readRows } from "./statement.js";

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
    const isNew = pending.length === known.length && (await hasNoTables(client, database, signal));
    const baseline = isNew ? await readBaseline(options.dir, known) : undefined;
    const rest = pending.slice(baseline?.covers.length ?? 0);
    await createLedger(client, options);
    for (const step of [...(baseline ? [baseline] : []), ...rest.map(alone)]) {
      await runStatement(holder, { query: "SELECT 1", params: [] }); // the lock is gone when its connection is: then this fails, and we stop
      logger.info(
        { store, revision: fileName(step.last), revisions: step.covers.length },
        "applying a migration",
      );
      await apply(client, options, step);
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
  return statusOf(
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

/** A file, and the revisions that a database has had after it. */
interface Step {
  readonly sql: string;
  readonly covers: readonly Revision[];
  readonly last: Revision;
}

const alone = (revision: Revision): Step => ({ sql: revision.sql, covers: [revision], last: revision });

/** A file's statements name their tables without a database: they run in the tenant's. */
async function apply(client: ClickHouseClient, target: Target, { sql, covers, last }: Step): Promise<void> {
  const { database, signal } = target;
  try {
    for (const statement of splitStatements(sql)) {
      signal?.throwIfAborted();
      // A statement may need what the one before does in the background, also one of an attempt that was cut off.
      await untilMutationsEnd(client, database, signal);
      await client.command({ query: written(statement, target), ...inDatabase(database, signal) });
    }
    await untilMutationsEnd(client, database, signal);
    await client.command({
      query: RECORD,
      query_params: {
        revisions: covers.map(({ revision }) => revision),
        names: covers.map(({ name }) => name),
        checksums: covers.map(({ checksum }) => checksum),
      },
      ...inDatabase(database, signal),
    });
  } catch (error) {
    throw new MigrationFailed(storeOf(database), last, error);
  }
}

/** One statement for all that a file stands for: it is recorded whole or not at all. */
const RECORD = `
  INSERT INTO schema_migrations
  SELECT each.1, each.2, each.3, now64(3, 'UTC')
  FROM (SELECT arrayJoin(arrayZip({revisions:Array(String)}, {names:Array(String)}, {checksums:Array(String)})) AS each)`;

const COUNT_TABLES = `
  SELECT toUInt32(count()) AS tables FROM system.tables WHERE database = {database:String} AND name != 'schema_migrations'`;

async function hasNoTables(client: ClickHouseClient, database: string, signal?: AbortSignal) {
  const { clickhouse_settings } = inDatabase(ANY_DATABASE, signal);
  const statement = { query: COUNT_TABLES, params: { database } };
  const [row] = await readRows<{ tables: number }>(client, statement, signal, clickhouse_settings);
  return row?.tables === 0;
}

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

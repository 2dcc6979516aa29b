/** Checks a cluster before a tenant's database on it is used, and returns the settings that its statements need. */
import type { ClickHouseClient, ClickHouseSettings } from "@clickhouse/client";
import { MigrationRefused } from "../../common/migrate/report.js";
import { identifier, literal } from "../sql-text.js";
import { readRows } from "../statement.js";

/** Queries on system tables use a database that always exists. */
const inDefault: ClickHouseSettings = { database: "default" };

export interface ClusterOf {
  readonly name: string;
  readonly database: string;
}

/**
 * Returns settings for all statements on the cluster. Throws `MigrationRefused` if the cluster cannot keep the database
 * as one: its rows would be on one shard only, or replicas could not tell themselves apart.
 */
export async function clusterSettings(
  client: ClickHouseClient,
  { name, database }: ClusterOf,
  signal?: AbortSignal,
): Promise<ClickHouseSettings> {
  const replicas = await countReplicas(client, { name, database }, signal);
  const settings: Record<string, string> = {
    // Replacing a partition waits for all active replicas. Inactive ones follow when they are back.
    alter_sync: "2",
    replication_wait_for_inactive_replica_timeout: "0",
    distributed_ddl_output_mode: "none_only_active",
    // An acknowledged insert is on most of the replicas. With a single replica, ClickHouse would wait for another one
    // forever (26.7).
    ...(replicas > 1 && { insert_quorum: "auto" }),
    ...(await withoutDeduplication(client, signal)),
  };
  return settings;
}

async function countReplicas(
  client: ClickHouseClient,
  { name, database }: ClusterOf,
  signal: AbortSignal | undefined,
): Promise<number> {
  const refuse = (reason: string) => new MigrationRefused(`clickhouse/${database}`, reason);
  const read = async <Row>(query: string) =>
    await readRows<Row>(client, { query, params: { name } }, signal, inDefault);
  const [found] = await read<{ shards: number; replicas: number; others: string[] }>(`
    SELECT toUInt32(uniqExactIf(shard_num, cluster = {name:String})) AS shards, toUInt32(countIf(cluster = {name:String})) AS replicas,
      arraySort(groupUniqArray(cluster)) AS others
    FROM system.clusters`);
  if (found === undefined || found.shards === 0)
    throw refuse(`the server knows no cluster ${name}: it knows ${found?.others.join(", ") || "none"}`);
  if (found.shards > 1)
    throw refuse(
      `cluster ${name} has ${found.shards} shards: a tenant's rows are on one shard, so name a cluster of one shard, for each tenant in storage.cluster if need be`,
    );
  const macros = await read<{ macro: string }>("SELECT macro FROM system.macros");
  const missing = ["shard", "replica"].filter((name) => !macros.some(({ macro }) => macro === name));
  if (missing.length > 0)
    throw refuse(
      `the server lacks the ${missing.length === 1 ? "macro" : "macros"} ${missing.join(" and ")}, which distinguish replicas`,
    );
  return found.replicas;
}

/**
 * Returns the settings that switch off insert deduplication, as far as this version has them. A replicated table drops
 * an insert that equals a recent one, but equal rows are legitimate here: a day that was dropped and is staged again,
 * or two lines that cost the same.
 */
async function withoutDeduplication(
  client: ClickHouseClient,
  signal?: AbortSignal,
): Promise<Record<string, string>> {
  const switches: Record<string, string> = {
    insert_deduplicate: "0",
    deduplicate_insert: "disable",
    deduplicate_insert_select: "disable",
  };
  const query = "SELECT name FROM system.settings WHERE name IN {names:Array(String)}";
  const names = Object.keys(switches);
  const known = await readRows<{ name: string }>(client, { query, params: { names } }, signal, inDefault);
  return Object.fromEntries(known.map(({ name }) => [name, switches[name] ?? ""]));
}

/** Returns the engine of a database. Undefined if the database does not exist. */
async function engineOf(
  client: ClickHouseClient,
  database: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const query = "SELECT engine FROM system.databases WHERE name = {database:String}";
  const statement = { query, params: { database } };
  return (await readRows<{ engine: string }>(client, statement, signal, inDefault))[0]?.engine;
}

/**
 * Returns statements that create the database on all replicas that do not have it. Each server expands the macros
 * `shard` and `replica` itself.
 */
export async function createOnCluster(
  client: ClickHouseClient,
  { name, database }: ClusterOf,
  signal?: AbortSignal,
): Promise<string[]> {
  if ((await engineOf(client, database, signal)) !== undefined) return [];
  const engine = `Replicated(${literal(`/clickhouse/databases/${database}`)}, '{shard}', '{replica}')`;
  return [
    `CREATE DATABASE IF NOT EXISTS ${identifier(database)} ON CLUSTER ${identifier(name)} ENGINE = ${engine}`,
  ];
}

/**
 * Throws `MigrationRefused` if the existing database is replicated although no cluster is named, or is not replicated
 * although one is. Neither kind can become the other, and tables of both kinds in one database would have different
 * rows on each replica.
 */
export async function refuseOtherKind(
  client: ClickHouseClient,
  { database, cluster }: { readonly database: string; readonly cluster: string | undefined },
  signal?: AbortSignal,
): Promise<void> {
  const refuse = (reason: string) => new MigrationRefused(`clickhouse/${database}`, reason);
  if (cluster !== undefined) {
    const engine = await engineOf(client, database, signal);
    if (engine !== undefined && engine !== "Replicated")
      throw refuse(
        `the database is there, and its engine ${engine} keeps one copy: leave cluster ${cluster} out, or move the tenant to another database`,
      );
    return;
  }
  // Services that replicate by themselves have Replicated databases, too, but their tables use another engine.
  const query = `SELECT name FROM system.tables
    WHERE database = {database:String} AND name = 'schema_migrations' AND engine LIKE 'Replicated%'`;
  const found = await readRows(client, { query, params: { database } }, signal, inDefault);
  if (found.length > 0)
    throw refuse("its tables are replicated: name their cluster in clickhouse.cluster or storage.cluster");
}

/** How long a replica may take to fetch what other replicas have. */
const CATCH_UP_SECONDS = 30;

/**
 * Resolves when the client's replica has everything that the others have. Returns at once if the database does not
 * exist.
 */
export async function catchUp(
  client: ClickHouseClient,
  database: string,
  signal?: AbortSignal,
): Promise<void> {
  const tables = async () =>
    await readRows<{ table: string }>(
      client,
      {
        query: "SELECT table FROM system.replicas WHERE database = {database:String} ORDER BY table",
        params: { database },
      },
      signal,
      inDefault,
    );
  const wait = async (what: string) =>
    await client.command({
      query: `SYSTEM SYNC ${what}`,
      clickhouse_settings: { ...inDefault, receive_timeout: CATCH_UP_SECONDS },
      ...(signal && { abort_signal: signal }),
    });
  if ((await engineOf(client, database, signal)) !== "Replicated") return;
  // First, wait for tables that were renamed or created meanwhile.
  await wait(`DATABASE REPLICA ${identifier(database)}`);
  for (const { table } of await tables()) await wait(`REPLICA ${identifier(database)}.${identifier(table)}`);
}

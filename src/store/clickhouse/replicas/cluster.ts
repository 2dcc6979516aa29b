/** What is asked of a cluster before a tenant's database on it is used, and what its servers are told with each statement. */
import type { ClickHouseClient, ClickHouseSettings } from "@clickhouse/client";
import { MigrationRefused } from "../../migrate/report.js";
import { identifier, literal } from "../sql-text.js";
import { readRows } from "../statement.js";

/** Where it is to be found is asked for in any database. */
const anywhere: ClickHouseSettings = { database: "default" };

export interface ClusterOf {
  readonly name: string;
  readonly database: string;
}

/**
 * Settings for all statements on the cluster. Throws `MigrationRefused` for one that cannot hold the database as one: its rows would be
 * on one shard only, or replicas would not know which they are.
 */
export async function clusterSettings(
  client: ClickHouseClient,
  { name, database }: ClusterOf,
  signal?: AbortSignal,
): Promise<ClickHouseSettings> {
  const replicas = await countReplicas(client, { name, database }, signal);
  const settings: Record<string, string> = {
    // A partition that is replaced is replaced on all replicas that are there, before the next statement. Others do it when they are back.
    alter_sync: "2",
    replication_wait_for_inactive_replica_timeout: "0",
    distributed_ddl_output_mode: "none_only_active",
    // What was answered is on most of the replicas. With a single one, the engine would wait for another for ever (26.7).
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
    await readRows<Row>(client, { query, params: { name } }, signal, anywhere);
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
  const missing = ["shard", "replica"].filter((each) => !macros.some(({ macro }) => macro === each));
  if (missing.length > 0)
    throw refuse(
      `the server lacks the ${missing.length === 1 ? "macro" : "macros"} ${missing.join(" and ")}, by which replicas are told apart`,
    );
  return found.replicas;
}

/**
 * A replicated table drops an insert that equals one of its last ones. Equal rows are right here: of a day that was dropped and is
 * staged again, or of two lines that cost the same. Which settings switch it off depends on the version.
 */
async function withoutDeduplication(
  client: ClickHouseClient,
  signal?: AbortSignal,
): Promise<Record<string, string>> {
  const off: Record<string, string> = {
    insert_deduplicate: "0",
    deduplicate_insert: "disable",
    deduplicate_insert_select: "disable",
  };
  const query = "SELECT name FROM system.settings WHERE name IN {names:Array(String)}";
  const names = Object.keys(off);
  const known = await readRows<{ name: string }>(client, { query, params: { names } }, signal, anywhere);
  return Object.fromEntries(known.map(({ name }) => [name, off[name] ?? ""]));
}

/** The engine of a database; undefined while it is not there. */
async function engineOf(
  client: ClickHouseClient,
  database: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const query = "SELECT engine FROM system.databases WHERE name = {database:String}";
  const statement = { query, params: { database } };
  return (await readRows<{ engine: string }>(client, statement, signal, anywhere))[0]?.engine;
}

/** Statements that make the database on all replicas where it is missing. The macros `shard` and `replica` are each server's own. */
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
 * Throws `MigrationRefused` for a database that is there, and is replicated although no cluster is named, or is not although one is. Neither
 * can become the other, and tables of both kinds in one database would hold different rows on each replica.
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
  // Replicated databases of a service that keeps copies by itself have tables of another engine.
  const query = `SELECT name FROM system.tables
    WHERE database = {database:String} AND name = 'schema_migrations' AND engine LIKE 'Replicated%'`;
  const found = await readRows(client, { query, params: { database } }, signal, anywhere);
  if (found.length > 0)
    throw refuse("its tables are replicated: name their cluster in clickhouse.cluster or storage.cluster");
}

/** How long a replica may take to fetch what the others have. */
const CATCH_UP_SECONDS = 30;

/** Resolves when the replica that the client speaks to has all that the others have. A database that is not there has nothing to wait for. */
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
      anywhere,
    );
  const wait = async (what: string) =>
    await client.command({
      query: `SYSTEM SYNC ${what}`,
      clickhouse_settings: { ...anywhere, receive_timeout: CATCH_UP_SECONDS },
      ...(signal && { abort_signal: signal }),
    });
  if ((await engineOf(client, database, signal)) !== "Replicated") return;
  // Tables that were renamed or made meanwhile come first.
  await wait(`DATABASE REPLICA ${identifier(database)}`);
  for (const { table } of await tables()) await wait(`REPLICA ${identifier(database)}.${identifier(table)}`);
}

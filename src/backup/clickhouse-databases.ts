/**
 * ClickHouse's part of a backup: the engine's own BACKUP of each database, which includes tables, views and staged
 * days.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import pRetry from "p-retry";
import { openClickHouseClient } from "../clickhouse/client.js";
import { identifier, literal } from "../clickhouse/sql-text.js";
import { readRows } from "../clickhouse/statement.js";
import { factTables } from "../domain/fact-tables.js";
import type { EmbeddedClickHouse } from "../embedded-clickhouse/index.js";
import { CATALOG } from "../embedded-clickhouse/index.js";
import { readClickHouseMigrations } from "../stores/migrate-clickhouse.js";
import { type Manifest, UnusableBackupError } from "./manifest.js";

type Database = Manifest["clickhouse"][number];

/** The engine sends no response until a backup is complete, whatever its size. */
const REQUEST_TIMEOUT_MS = 24 * 60 * 60 * 1000;

/** Runs `work` with a client whose timeout allows for the longest statements. */
export async function withEngine<T>(
  engine: Pick<EmbeddedClickHouse, "endpoint">,
  work: (client: ClickHouseClient) => Promise<T>,
): Promise<T> {
  const client = openClickHouseClient({
    ...(await engine.endpoint()),
    database: "default",
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    applicationName: "chargehouse backup",
  });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/**
 * Backs up each database into a folder of its own, except the catalog of the port for SQL clients, which is recreated
 * at each start.
 */
export async function backUpDatabases(
  client: ClickHouseClient,
  folder: string,
  signal: AbortSignal,
): Promise<Database[]> {
  await mkdir(folder, { mode: 0o700 });
  const names = await readRows<{ name: string }>(
    client,
    {
      query:
        "SELECT name FROM system.databases WHERE engine = 'Atomic' AND name NOT IN ('default', 'system', {catalog:String}) ORDER BY name",
      params: { catalog: CATALOG },
    },
    signal,
  );
  const databases: Database[] = [];
  for (const { name } of names) {
    const query = `BACKUP DATABASE ${identifier(name)} TO File(${literal(placeOf(folder, name))})`;
    const backUp = async () => {
      // Gathering goes on meanwhile. If it recreates a staging table during a backup, that backup fails and is
      // repeated.
      await rm(join(folder, name), { recursive: true, force: true });
      await client.command({ query, abort_signal: signal });
    };
    await pRetry(backUp, { retries: 5, minTimeout: 100, signal });
    databases.push({
      database: name,
      store_id: await readStoreId(client, name, signal),
      revisions: await readClickHouseMigrations(client, name, signal),
      rows: await countFacts(client, name, signal),
    });
  }
  return databases;
}

/** Restores a database. The engine must not have it yet. */
export async function restoreDatabase(
  client: ClickHouseClient,
  folder: string,
  { database, rows }: Database,
  signal: AbortSignal,
): Promise<void> {
  const query = `RESTORE DATABASE ${identifier(database)} FROM File(${literal(placeOf(folder, database))})`;
  await client.command({ query, abort_signal: signal });
  const found = await countFacts(client, database, signal);
  for (const [table, expected] of Object.entries(rows))
    if (found[table] !== expected)
      throw new UnusableBackupError(
        `Table ${table} of ${database} has ${found[table] ?? 0} rows instead of ${expected}.`,
      );
}

/** The trailing slash makes ClickHouse write a folder of files instead of an archive. */
function placeOf(folder: string, database: string): string {
  return `${join(folder, database)}/`;
}

async function countFacts(
  client: ClickHouseClient,
  database: string,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const counted = await readRows<{ name: string; n: number }>(
    client,
    {
      query: `
SELECT name, toUInt64(total_rows) AS n FROM system.tables
WHERE database = {database:String} AND name IN {tables:Array(String)} ORDER BY name`,
      params: { database, tables: factTables },
    },
    signal,
  );
  return Object.fromEntries(counted.map(({ name, n }) => [name, Number(n)]));
}

async function readStoreId(
  client: ClickHouseClient,
  database: string,
  signal: AbortSignal,
): Promise<string | null> {
  const tables = await readRows(
    client,
    {
      query: "SELECT 1 FROM system.tables WHERE database = {database:String} AND name = 'store_identity'",
      params: { database },
    },
    signal,
  );
  if (tables.length === 0) return null;
  const query = `SELECT toString(store_id) AS id FROM ${identifier(database)}.store_identity`;
  return (await readRows<{ id: string }>(client, { query, params: {} }, signal))[0]?.id ?? null;
}

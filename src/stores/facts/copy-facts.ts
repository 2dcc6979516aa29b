/**
 * Copies a tenant's facts from one database to another, on the same server or a different one, and compares the copies.
 * It copies partition by partition, as bytes that pass through this process unparsed. If the target already has data,
 * such as after a copy that was cut off, equal partitions stay and different ones are replaced.
 */
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ClickHouseClient } from "@clickhouse/client";
import { engineBytes } from "../../clickhouse/engine-bytes.js";
import { identifier } from "../../clickhouse/sql-text.js";
import { readRows } from "../../clickhouse/statement.js";

export interface FactsCopy {
  readonly from: ClickHouseClient;
  readonly to: ClickHouseClient;
  readonly signal: AbortSignal;
  /** Called when a table is equal in both databases. */
  readonly onTable?: (table: string, rows: number) => void;
}

/** The table that says which store this is. It is copied last, so a database without it is an unfinished copy. */
const IDENTITY = "store_identity";

/** Tables whose rows belong to one run at most, or to the database itself. */
const NOT_COPIED = "^staged_|^(rewritten_days|focus_landing|next_billing|publishing_days|schema_migrations)$";

interface Table {
  readonly name: string;
  /** True for ReplacingMergeTree: only the newest row of each key counts, and merges remove the others. */
  readonly replacing: boolean;
  readonly columns: readonly string[];
}

/** Partitions by id. */
type Partitions = ReadonlyMap<string, { readonly rows: number; readonly content: string }>;

/**
 * Both databases must have the same schema, and nothing else may write to either. Throws if a copy differs in the end.
 */
export async function copyFacts(copy: FactsCopy): Promise<{ rows: number }> {
  let rows = 0;
  for (const table of await tablesOf(copy)) {
    const copied = await copyTable(copy, table);
    copy.onTable?.(table.name, copied);
    rows += copied;
  }
  return { rows };
}

async function tablesOf({ from, signal }: FactsCopy): Promise<Table[]> {
  const read = {
    query: `
SELECT t.name AS name, startsWith(t.engine, 'Replacing') AS replacing, groupArray(c.name) AS columns
FROM system.tables AS t
JOIN (SELECT table, name FROM system.columns WHERE database = currentDatabase() AND default_kind NOT IN ('MATERIALIZED', 'ALIAS') ORDER BY table, position) AS c
  ON c.table = t.name
WHERE t.database = currentDatabase() AND t.engine LIKE '%MergeTree' AND NOT match(t.name, {not_copied:String})
GROUP BY name, replacing
ORDER BY name = {identity:String}, name`,
    params: { not_copied: NOT_COPIED, identity: IDENTITY },
  };
  const found = await readRows<{ name: string; replacing: number; columns: string[] }>(from, read, signal);
  return found.map(({ name, replacing, columns }) => ({ name, replacing: replacing === 1, columns }));
}

/** Returns the number of rows. */
async function copyTable(copy: FactsCopy, table: Table): Promise<number> {
  const { from, to, signal } = copy;
  const wanted = await partitionsOf(from, table, signal);
  const found = await partitionsOf(to, table, signal);
  for (const [partition, { content }] of found) {
    if (wanted.get(partition)?.content !== content) await dropPartition(to, table, partition);
  }
  for (const [partition, { content }] of wanted) {
    signal.throwIfAborted();
    if (found.get(partition)?.content !== content) await copyPartition(copy, table, partition);
  }
  const copied = await partitionsOf(to, table, signal);
  for (const partition of new Set([...wanted.keys(), ...copied.keys()])) {
    if (wanted.get(partition)?.content === copied.get(partition)?.content) continue;
    throw new Error(`the copy of table ${table.name} differs from it in partition ${partition}`);
  }
  return [...wanted.values()].reduce((sum, { rows }) => sum + rows, 0);
}

async function partitionsOf(
  client: ClickHouseClient,
  { name, replacing, columns }: Table,
  signal: AbortSignal,
): Promise<Partitions> {
  const read = {
    query: `
SELECT _partition_id AS partition, count() AS rows, concat(toString(count()), ' ', toString(sum(cityHash64(${names(columns)})))) AS content
FROM ${identifier(name)}${replacing ? " FINAL" : ""}
GROUP BY partition`,
    params: {},
  };
  const found = await readRows<{ partition: string; rows: number; content: string }>(client, read, signal);
  return new Map(found.map(({ partition, ...sums }) => [partition, sums]));
}

async function copyPartition(
  { from, to, signal }: FactsCopy,
  { name, replacing, columns }: Table,
  partition: string,
): Promise<void> {
  const read = {
    query: `SELECT ${names(columns)} FROM ${identifier(name)}${replacing ? " FINAL" : ""} WHERE _partition_id = {partition:String} FORMAT Native`,
    params: { partition },
  };
  const bytes = await engineBytes(from, read, signal, {});
  const { stream } = await to.exec({
    query: `INSERT INTO ${identifier(name)} (${names(columns)}) FORMAT Native`,
    values: Readable.from(bytes, { objectMode: false }),
    abort_signal: signal,
    clickhouse_settings: { max_partitions_per_insert_block: "1000" },
  });
  await text(stream);
}

async function dropPartition(client: ClickHouseClient, { name }: Table, partition: string): Promise<void> {
  await client.command({
    query: `ALTER TABLE ${identifier(name)} DROP PARTITION ID '${partitionId(partition)}'`,
    clickhouse_settings: { max_partition_size_to_drop: "0" },
  });
}

function names(columns: readonly string[]): string {
  return columns.map(identifier).join(", ");
}

function partitionId(id: string): string {
  if (!/^[A-Za-z0-9-]+$/.test(id)) throw new RangeError(`not an id of a partition: ${id}`);
  return id;
}

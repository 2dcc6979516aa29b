/**
 * Tables in which a run prepares days before they are published. Each fact table has a staging twin with the same
 * structure, whose name contains the epoch of the lease that may write it. A new lease owner first renames the twins to
 * its own epoch. An owner that lost its lease, and wakes up late, therefore finds no table to write to or to publish
 * from: the store itself fences it off.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { LeaseLostError } from "../common/lease-lost.js";
import { type FactTable, factTables } from "../domain/fact-tables.js";
import { heldDay } from "../domain/passed-cost.js";
import { sumTables } from "../domain/sum-tables.js";
import { filledDays, replaceDays } from "./partitions.js";
import { isoDay } from "./sql-text.js";
import { type Params, readRows } from "./statement.js";

/** Tables that have a staging twin: the facts, the announcement of a publish, and the sums. */
export const twinned = [...factTables, "publishing_days", ...sumTables] as const;
type Twinned = (typeof twinned)[number];

/** The store of a tenant, and the epoch of the lease that allows to change it. */
export interface LeasedStore {
  readonly client: ClickHouseClient;
  readonly epoch: number;
}

/** Returns the name of a staging table. Epochs are integers from Postgres, so the name needs no quoting. */
export function stagedTable(table: Twinned, epoch: number): string {
  if (!Number.isSafeInteger(epoch) || epoch < 0) throw new RangeError(`not an epoch: ${epoch}`);
  return `staged_${table}_e${epoch}`;
}

/** A temporary table for rewritten days on their way back to the staging table. */
const REWRITTEN_DAYS = "rewritten_days";

interface Rewrite {
  readonly table: Twinned;
  readonly epoch: number;
  /** Days that have rows. All of their rows are rewritten. */
  readonly days: readonly string[];
  /** The table's columns, in order, as SQL expressions. `where` selects the rows that stay. */
  readonly select: string;
  /** Source of the rows. Default: the staging table. */
  readonly from?: string;
  readonly where: string;
  readonly params: Params;
  readonly signal: AbortSignal;
}

/**
 * Rewrites staged days with other values, or without some of their rows, and swaps them in. It costs as much as the
 * rows of these days. A mutation would visit every part of the table, which takes a tenth of a second per part if few
 * run at once: with a year of waiting days, each further month took half a minute. On replicas, each replica would also
 * evaluate the subqueries of a mutation itself, which ClickHouse refuses.
 */
export async function rewriteStagedDays(client: ClickHouseClient, rewrite: Rewrite): Promise<void> {
  const { table, epoch, days, select, where, params, signal } = rewrite;
  if (days.length === 0) return;
  const staged = stagedTable(table, epoch);
  const { from = staged } = rewrite;
  await client.command({
    query: `CREATE OR REPLACE TABLE ${REWRITTEN_DAYS} AS ${staged}`,
    abort_signal: signal,
  });
  await client.command({
    query: `INSERT INTO ${REWRITTEN_DAYS} SELECT ${select} FROM ${from}
      WHERE day IN {rewritten_days:Array(Date)} AND (${where})`,
    query_params: { ...params, rewritten_days: days.map(isoDay) },
    clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    abort_signal: signal,
  });
  signal.throwIfAborted();
  await replaceDays(client, staged, REWRITTEN_DAYS, days);
  await dropRewrittenDays(client);
}

async function dropRewrittenDays(client: ClickHouseClient): Promise<void> {
  await client.command({
    query: `DROP TABLE IF EXISTS ${REWRITTEN_DAYS} SYNC`,
    clickhouse_settings: { max_table_size_to_drop: "0" },
  });
}

/**
 * Takes over the staging tables of earlier epochs, or creates empty ones. Afterwards only `epoch` can write or publish.
 * Each table is claimed separately, so the next claim finishes one that died halfway.
 */
export async function claimStaging(client: ClickHouseClient, epoch: number): Promise<void> {
  const twins = await stagingTwins(client);
  const newer = Math.max(...twins.map((twin) => twin.epoch), epoch);
  // Staging tables of a newer epoch mean that the caller has lost its lease without noticing.
  if (newer > epoch) throw new LeaseLostError(epoch, `staging tables of lease ${newer} exist`);
  const renames: string[] = [];
  const outdated: string[] = [];
  const missing: Twinned[] = [];
  for (const table of twinned) {
    const versions = twins.filter((twin) => twin.table === table).sort((a, b) => a.epoch - b.epoch);
    const newest = versions.pop();
    outdated.push(...versions.map((twin) => stagedTable(table, twin.epoch)));
    if (newest?.fits !== true) {
      if (newest !== undefined) outdated.push(stagedTable(table, newest.epoch));
      missing.push(table);
    } else if (newest.epoch !== epoch) {
      renames.push(`RENAME TABLE ${stagedTable(table, newest.epoch)} TO ${stagedTable(table, epoch)}`);
    }
  }
  // One statement each: replicated databases, as on ClickHouse Cloud, refuse more than one rename per statement.
  for (const query of renames) await client.command({ query });
  for (const stale of outdated) await client.command({ query: `DROP TABLE IF EXISTS ${stale} SYNC` });
  await dropRewrittenDays(client);
  for (const table of missing) {
    await client.command({ query: `CREATE TABLE IF NOT EXISTS ${stagedTable(table, epoch)} AS ${table}` });
  }
}

/** Returns the newest epoch of the staging tables; 0 without any. */
export async function newestStagedEpoch(client: ClickHouseClient): Promise<number> {
  return Math.max(0, ...(await stagingTwins(client)).map((twin) => twin.epoch));
}

interface StagingTwin {
  readonly table: Twinned;
  readonly epoch: number;
  /**
   * True if it has the structure of its table. One from before a migration does not, and its partitions could not be
   * swapped in.
   */
  readonly fits: boolean;
}

async function stagingTwins(client: ClickHouseClient): Promise<StagingTwin[]> {
  const read = {
    query: `
SELECT table, arraySort(groupArray(piece)) AS structure
FROM (
  SELECT name AS table, concat('keys ', partition_key, ' / ', primary_key, ' / ', sorting_key) AS piece
  FROM system.tables WHERE database = currentDatabase() AND match(name, {pattern:String})
  UNION ALL
  SELECT table, concat('column ', toString(position), ' ', name, ' ', type, ' ', default_kind, ' ', default_expression)
  FROM system.columns WHERE database = currentDatabase() AND match(table, {pattern:String})
  UNION ALL
  SELECT table, concat('projection ', name, ' ', query)
  FROM system.projections WHERE database = currentDatabase() AND match(table, {pattern:String})
)
GROUP BY table`,
    params: { pattern: `^(staged_)?(${twinned.join("|")})(_e[0-9]+)?$` },
  };
  const found = await readRows<{ table: string; structure: string[] }>(client, read);
  const structures = new Map(found.map((row) => [row.table, row.structure.join("\n")]));
  return found.flatMap(({ table: name }) => {
    const [, table, epoch] = /^staged_(.+)_e(\d+)$/.exec(name) ?? [];
    const known = twinned.find((name) => name === table);
    if (known === undefined) return [];
    return [{ table: known, epoch: Number(epoch), fits: structures.get(name) === structures.get(known) }];
  });
}

/** Drops the staged rows of days. */
export async function dropStagedDays(
  client: ClickHouseClient,
  epoch: number,
  days: readonly string[],
  tables: readonly FactTable[] = factTables,
): Promise<void> {
  const names = tables.map((table) => stagedTable(table, epoch));
  const filled = await filledDays(client, names);
  for (const table of tables) {
    const staged = filled.get(stagedTable(table, epoch)) ?? new Set();
    const all = table === "chargebacks" ? [...days, ...days.map(heldDay)] : days;
    const dropped = all.filter((day) => staged.has(day));
    if (dropped.length === 0) continue;
    if (dropped.length === staged.size) await emptyStaging(client, table, epoch);
    else await dropPartitions(client, table, epoch, dropped);
  }
}

/** Drops the staged rows of all days except the known ones: remains of a run that died while gathering. */
export async function dropStagedDaysExcept(
  client: ClickHouseClient,
  epoch: number,
  known: ReadonlySet<string>,
): Promise<void> {
  const filled = await filledDays(
    client,
    factTables.map((table) => stagedTable(table, epoch)),
  );
  const days = new Set([...filled.values()].flatMap((tableDays) => [...tableDays]));
  await dropStagedDays(
    client,
    epoch,
    [...days].filter((day) => !known.has(day)),
  );
}

async function dropPartitions(
  client: ClickHouseClient,
  table: FactTable,
  epoch: number,
  days: readonly string[],
): Promise<void> {
  const actions = days.map((day) => `DROP PARTITION '${isoDay(day)}'`).join(", ");
  await client.command({ query: `ALTER TABLE ${stagedTable(table, epoch)} ${actions}` });
}

/**
 * Recreates a staging table. Dropping a partition writes an empty part in its place and takes 8 to 18 ms. Dropping the
 * table takes 3 ms for each of its partitions. The drop fails if the table has been renamed: then the lease is lost,
 * and the table must not come back. If the process dies between the two statements, the table is missing, and the next
 * claim creates it.
 */
async function emptyStaging(client: ClickHouseClient, table: FactTable, epoch: number): Promise<void> {
  const staged = stagedTable(table, epoch);
  await client.command({
    query: `DROP TABLE ${staged} SYNC`,
    clickhouse_settings: { max_table_size_to_drop: "0" },
  });
  await client.command({ query: `CREATE TABLE ${staged} AS ${table}` });
}

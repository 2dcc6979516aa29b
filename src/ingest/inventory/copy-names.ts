/**
 * Copies names, types and teams of the inventory to the tenant's ClickHouse, where they are read together with the
 * facts. Each copy is complete and has a generation of its own; one row in `inventory_generations` makes it visible.
 * Nothing is written if nothing has changed. ClickHouse itself tells which generation is visible, so a database that
 * was created again or restored from a backup is filled again.
 */
import { type ClickHouseClient, drainStream } from "@clickhouse/client";
import type { Pool, PoolClient } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { readRows } from "../../clickhouse/statement.js";
import { runStatement } from "../../postgres/statement.js";
import { withTransaction } from "../../postgres/transaction.js";
import { copyNamesOf, HASH_NAMES } from "./sql/inventory-names.js";

export interface NamesCopy {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly signal: AbortSignal;
}

/** Only for the holder of the tenant's lease. Returns whether anything was written. */
export async function copyNames({ client, postgres, tenantName, signal }: NamesCopy): Promise<boolean> {
  return await withTransaction(postgres, async (transaction) => {
    await runStatement(transaction, { query: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", params: [] });
    const hashed = await runStatement<{ content_hash: string }>(transaction, {
      query: HASH_NAMES,
      params: [tenantName],
    });
    const content_hash = hashed.rows[0]?.content_hash ?? "";
    const shown = await readShown(client, signal);
    const isNew = shown.content_hash !== content_hash;
    const generation = isNew ? await nextGeneration(transaction, shown.generation) : shown.generation;
    if (isNew) {
      await writeNames(client, transaction, { tenantName, generation, signal });
      await client.insert({
        table: "inventory_generations",
        format: "JSONEachRow",
        values: [{ generation, content_hash }],
        abort_signal: signal,
      });
      await dropOlder(client, shown.generation, signal);
    }
    // Updated after the copy is visible: a response that was read in between has the ETag of an older generation, which
    // never comes again.
    await runStatement(transaction, {
      query:
        "UPDATE tenants SET inventory_generation = $2 WHERE tenant_name = $1 AND inventory_generation <> $2",
      params: [tenantName, generation],
    });
    return isNew;
  });
}

interface Shown {
  /** 0 if there is none. */
  readonly generation: number;
  readonly content_hash: string;
}

async function readShown(client: ClickHouseClient, signal: AbortSignal): Promise<Shown> {
  const query = "SELECT generation, content_hash FROM inventory_generations ORDER BY generation DESC LIMIT 1";
  const read = { query, params: {} };
  const [shown] = await readRows<Shown>(client, read, signal);
  return shown ?? { generation: 0, content_hash: "" };
}

/**
 * Returns a generation that is later than all before and than `shown`: after a restore of Postgres, ClickHouse may show
 * a later one.
 */
async function nextGeneration(transaction: PoolClient, shown: number): Promise<number> {
  const { rows } = await runStatement<{ next: number }>(transaction, {
    query: "SELECT nextval('inventory_generations')::float8 AS next",
    params: [],
  });
  const next = rows[0]?.next ?? 0;
  if (next > shown) return next;
  await runStatement(transaction, {
    query: "SELECT setval('inventory_generations', $1)",
    params: [shown + 1],
  });
  return shown + 1;
}

interface CopyTarget {
  readonly tenantName: string;
  readonly generation: number;
  readonly signal: AbortSignal;
}

/** COPY writes what ClickHouse reads: columns separated by tabs, with the same characters escaped. */
async function writeNames(
  client: ClickHouseClient,
  transaction: PoolClient,
  { tenantName, generation, signal }: CopyTarget,
): Promise<void> {
  const names = transaction.query(copyTo(copyNamesOf(transaction.escapeLiteral(tenantName))));
  const { stream } = await client.exec({
    query: `
INSERT INTO inventory_names (generation, kind, entity_id, entity_type, display_name, team, parent_id, owner_id, is_deleted)
SELECT {generation:UInt64}, * FROM input('kind String, entity_id String, entity_type String, display_name String, team String, parent_id String, owner_id String, is_deleted UInt8')
FORMAT TabSeparated`,
    query_params: { generation },
    values: names,
    abort_signal: signal,
  });
  await drainStream(stream);
}

/** Keeps the generation before, for queries that still read it. */
async function dropOlder(client: ClickHouseClient, before: number, signal: AbortSignal): Promise<void> {
  for (const table of ["inventory_names", "inventory_generations"]) {
    const query =
      "SELECT DISTINCT partition_id FROM system.parts WHERE database = currentDatabase() AND table = {table:String} AND active AND toUInt64(partition_id) < {before:UInt64}";
    const older = { query, params: { table, before } };
    for (const { partition_id } of await readRows<{ partition_id: string }>(client, older, signal))
      await client.command({
        query: "ALTER TABLE {table:Identifier} DROP PARTITION ID {partition_id:String}",
        query_params: { table, partition_id },
        abort_signal: signal,
      });
  }
}

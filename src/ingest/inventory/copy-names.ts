/**
 * Copies names, types and teams of the inventory to the tenant's ClickHouse, where they are read beside the facts. Written whole under
 * a number of its own, and shown when it is whole by one row in `inventory_generations`. Nothing is written while nothing changed; what
 * is shown is asked of ClickHouse itself, so that one that was made anew or set back to a backup is filled again.
 */
import { type ClickHouseClient, drainStream } from "@clickhouse/client";
import type { Pool, PoolClient } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { readRows } from "../../store/clickhouse/statement.js";
import { runStatement } from "../../store/postgres/statement.js";
import { withTransaction } from "../../store/postgres/transaction.js";
import { copyNamesOf, HASH_NAMES } from "./sql/inventory-names.js";

export interface NamesCopy {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly signal: AbortSignal;
}

/** For the holder of the tenant's lease. Returns whether anything was written. */
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
    // After it is shown: an answer that was read in between has the name of an older one, which never comes again.
    await runStatement(transaction, {
      query:
        "UPDATE tenants SET inventory_generation = $2 WHERE tenant_name = $1 AND inventory_generation <> $2",
      params: [tenantName, generation],
    });
    return isNew;
  });
}

interface Shown {
  /** 0 when there is none. */
  readonly generation: number;
  readonly content_hash: string;
}

async function readShown(client: ClickHouseClient, signal: AbortSignal): Promise<Shown> {
  const query = "SELECT generation, content_hash FROM inventory_generations ORDER BY generation DESC LIMIT 1";
  const read = { query, params: {} };
  const [shown] = await readRows<Shown>(client, read, signal);
  return shown ?? { generation: 0, content_hash: "" };
}

/** Later than any before, and than `shown`: after Postgres was set back, ClickHouse may show a later one. */
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

interface Writing {
  readonly tenantName: string;
  readonly generation: number;
  readonly signal: AbortSignal;
}

/** What COPY writes is what ClickHouse reads: tabs between columns, and the same characters escaped. */
async function writeNames(
  client: ClickHouseClient,
  transaction: PoolClient,
  { tenantName, generation, signal }: Writing,
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

/** The one before stays for who is reading it. */
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

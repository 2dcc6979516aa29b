/** Drops dimensions whose chargebacks expire by retention, and their tags. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { readRows, readTuples } from "../clickhouse/statement.js";
import { dimensionFields } from "../domain/dimension-id.js";
import { runStatement } from "../postgres/statement.js";
import { type TagTransaction, writeTags } from "./transaction.js";
import { markRemoved } from "./write.js";

export interface DimensionRetention {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  /** First UTC day whose chargebacks are kept. */
  readonly keepFrom: string;
  readonly signal?: AbortSignal | undefined;
}

const IDS_AT_ONCE = 10_000;

/**
 * Runs before the days are dropped. Their rows distinguish dimensions that expire from those that a calculation has
 * removed and may add again. Does nothing unless the oldest kept day has changed since the last time.
 *
 * Deletes from Postgres first, so that an interrupted deletion is repeated. Drops only dimensions that ClickHouse has:
 * one that a rebuilt store has not recalculated yet keeps its tags. Only for the owner of the tenant's lease, because
 * nobody may publish meanwhile. Returns the number of dropped dimensions.
 */
export async function forgetDimensions(retention: DimensionRetention): Promise<number> {
  const { client, postgres, tenantName, keepFrom, signal } = retention;
  const oldest = await oldestDay(client, keepFrom);
  if (oldest === (await lastOldestDay(postgres, tenantName))) return 0;
  const ids = await expiredDimensions(client, keepFrom, signal);
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    signal?.throwIfAborted();
    await forgetInPostgres(postgres, tenantName, ids.slice(from, from + IDS_AT_ONCE));
  }
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    signal?.throwIfAborted();
    // Delete by ids: otherwise each replica would evaluate the subquery itself, which ClickHouse rejects.
    await client.command({
      query: `ALTER TABLE dimensions DELETE WHERE dimension_id IN (${ids.slice(from, from + IDS_AT_ONCE).join(", ")})`,
      clickhouse_settings: { mutations_sync: "1" },
    });
  }
  await runStatement(postgres, {
    query:
      "DELETE FROM tag_labels WHERE tenant_name = $1 AND tag_count = 0 AND used_at < now() - interval '1 day'",
    params: [tenantName],
  });
  await runStatement(postgres, {
    query: `INSERT INTO tag_mirrors (tenant_name, oldest_day) VALUES ($1, $2)
     ON CONFLICT (tenant_name) DO UPDATE SET oldest_day = excluded.oldest_day`,
    params: [tenantName, oldest],
  });
  return ids.length;
}

/** Returns the oldest kept day, from the engine's metadata of each day's parts: no row is read. Null without any. */
async function oldestDay(client: ClickHouseClient, keepFrom: string): Promise<string | null> {
  const query =
    "SELECT if(count() = 0, '', toString(min(day))) AS oldest FROM chargebacks WHERE day >= {keepFrom:Date}";
  const [row] = await readRows<{ oldest: string }>(client, { query, params: { keepFrom } });
  return row?.oldest || null;
}

async function lastOldestDay(postgres: Pool, tenantName: string): Promise<string | null | undefined> {
  const { rows } = await runStatement<{ oldest_day: string | null }>(postgres, {
    query: "SELECT oldest_day FROM tag_mirrors WHERE tenant_name = $1",
    params: [tenantName],
  });
  return rows[0]?.oldest_day;
}

const fields = dimensionFields.join(", ");
const fieldsButIdentity = dimensionFields.filter((field) => field !== "identity_id").join(", ");
/**
 * Selects dimensions without kept rows whose last rows are dropped now, or that were recorded longer ago than rows are
 * kept. Groups the identities by line first, as the allocation does: far cheaper than distinct rows of eight texts.
 */
const isExpired = `(${fieldsButIdentity}, identity_id) NOT IN (
  SELECT ${fieldsButIdentity}, arrayJoin(groupUniqArray(identity_id)) FROM chargebacks
  WHERE day >= {keepFrom:Date} GROUP BY ${fieldsButIdentity}
) AND (recorded_at < {keepFrom:Date} OR (${fieldsButIdentity}, identity_id) IN (
  SELECT ${fieldsButIdentity}, arrayJoin(groupUniqArray(identity_id)) FROM chargebacks
  WHERE day < {keepFrom:Date} GROUP BY ${fieldsButIdentity}
))`;

async function expiredDimensions(
  client: ClickHouseClient,
  keepFrom: string,
  signal?: AbortSignal,
): Promise<number[]> {
  const read = {
    query: `SELECT DISTINCT dimension_id FROM (SELECT dimension_id, recorded_at, ${fields} FROM dimensions) WHERE ${isExpired} ORDER BY dimension_id`,
    params: { keepFrom },
  };
  return (await readTuples<[number]>(client, read, signal)).map(([id]) => id);
}

/** Deletes under the exclusive lock, so that no tag is being written for any of the dimensions. */
async function forgetInPostgres(postgres: Pool, tenantName: string, ids: readonly number[]): Promise<void> {
  const forget = async (tx: TagTransaction) => {
    const { rows } = await runStatement<{ tag_id: number; label_id: number; dimension_id: number }>(
      tx.client,
      {
        query:
          "DELETE FROM tags WHERE tenant_name = $1 AND dimension_id = ANY($2) RETURNING tag_id, label_id, dimension_id",
        params: [tenantName, ids],
      },
    );
    markRemoved(tx, rows);
    await runStatement(tx.client, {
      query: "DELETE FROM dimensions WHERE tenant_name = $1 AND dimension_id = ANY($2)",
      params: [tenantName, ids],
    });
  };
  await writeTags({ postgres, tenantName }, forget, "exclusive");
}

/** Drops dimensions whose chargebacks run out by retention, and their tags. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { dimensionFields } from "../store/clickhouse/dimension-id.js";
import { readRows, readTuples } from "../store/clickhouse/statement.js";
import { runStatement } from "../store/postgres/statement.js";
import { type TagTransaction, writeTags } from "./transaction.js";
import { noteRemoved } from "./write.js";

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
 * Before the days are dropped: it is their rows that tell what runs out from what a calculation has taken away, and may give back. Only
 * when the oldest day that is kept is another one than the last time. Postgres first, so that what breaks off is begun again. Only
 * dimensions that ClickHouse knows are dropped: one that a rebuilt store has not calculated again yet keeps its tags. Nobody may publish
 * meanwhile: for the holder of the tenant's lease. Returns how many were dropped.
 */
export async function forgetDimensions(retention: DimensionRetention): Promise<number> {
  const { client, postgres, tenantName, keepFrom, signal } = retention;
  const oldest = await oldestDay(client, keepFrom);
  if (oldest === (await oldestDayBefore(postgres, tenantName))) return 0;
  const ids = await dimensionsRunOut(client, keepFrom, signal);
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    signal?.throwIfAborted();
    await forgetInPostgres(postgres, tenantName, ids.slice(from, from + IDS_AT_ONCE));
  }
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    signal?.throwIfAborted();
    // By their ids: on replicas, each would ask what runs out for itself, which ClickHouse refuses.
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

/** Of those that are kept, from the engine's own bounds of each day's parts: no row is read. Null without any. */
async function oldestDay(client: ClickHouseClient, keepFrom: string): Promise<string | null> {
  const query =
    "SELECT if(count() = 0, '', toString(min(day))) AS oldest FROM chargebacks WHERE day >= {keepFrom:Date}";
  const [row] = await readRows<{ oldest: string }>(client, { query, params: { keepFrom } });
  return row?.oldest || null;
}

async function oldestDayBefore(postgres: Pool, tenantName: string): Promise<string | null | undefined> {
  const { rows } = await runStatement<{ oldest_day: string | null }>(postgres, {
    query: "SELECT oldest_day FROM tag_mirrors WHERE tenant_name = $1",
    params: [tenantName],
  });
  return rows[0]?.oldest_day;
}

const fields = dimensionFields.join(", ");
const fieldsButIdentity = dimensionFields.filter((field) => field !== "identity_id").join(", ");
/**
 * No row is kept, and either the last ones go now, or it has been known for longer than rows are kept. Distinct identities by line first,
 * as allocation does it: far cheaper than distinct rows of eight texts.
 */
const runsOut = `(${fieldsButIdentity}, identity_id) NOT IN (
  SELECT ${fieldsButIdentity}, arrayJoin(groupUniqArray(identity_id)) FROM chargebacks
  WHERE day >= {keepFrom:Date} GROUP BY ${fieldsButIdentity}
) AND (recorded_at < {keepFrom:Date} OR (${fieldsButIdentity}, identity_id) IN (
  SELECT ${fieldsButIdentity}, arrayJoin(groupUniqArray(identity_id)) FROM chargebacks
  WHERE day < {keepFrom:Date} GROUP BY ${fieldsButIdentity}
))`;

async function dimensionsRunOut(
  client: ClickHouseClient,
  keepFrom: string,
  signal?: AbortSignal,
): Promise<number[]> {
  const read = {
    query: `SELECT DISTINCT dimension_id FROM (SELECT dimension_id, recorded_at, ${fields} FROM dimensions) WHERE ${runsOut} ORDER BY dimension_id`,
    params: { keepFrom },
  };
  return (await readTuples<[number]>(client, read, signal)).map(([id]) => id);
}

/** Alone: no tag is being written for any of them. */
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
    noteRemoved(tx, rows);
    await runStatement(tx.client, {
      query: "DELETE FROM dimensions WHERE tenant_name = $1 AND dimension_id = ANY($2)",
      params: [tenantName, ids],
    });
  };
  await writeTags({ postgres, tenantName }, forget, "alone");
}

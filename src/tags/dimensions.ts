/**
 * The copy in Postgres of what ClickHouse knows of dimensions. Filled after each run, and one by one when an id is asked for that
 * it lacks. With it tags are checked, written and listed while ClickHouse is away.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool, PoolClient } from "pg";
import { dimensionFields } from "../store/clickhouse/dimension-id.js";
import { readRows } from "../store/clickhouse/statement.js";
import { runStatement } from "../store/postgres/statement.js";

export interface Dimension {
  readonly dimension_id: number;
  readonly ecosystem: string;
  readonly tenant_id: string;
  readonly env_id: string;
  readonly resource_id: string;
  readonly product_category: string;
  readonly product_type: string;
  readonly identity_id: string;
  readonly cost_type: "usage" | "shared";
}

const fields = dimensionFields.join(", ");

/** Of those ids, which the copy lacks. Ascending. Each by the index: to join would be to read the whole copy for each batch of a bulk. */
export async function uncopiedIds(
  postgres: Pool | PoolClient,
  tenantName: string,
  ids: readonly number[],
): Promise<number[]> {
  const { rows } = await runStatement<{ id: number }>(postgres, {
    query: `SELECT id FROM unnest($2::bigint[]) AS wanted (id)
     WHERE (SELECT true FROM dimensions WHERE dimension_id = id AND tenant_name = $1) IS NULL ORDER BY id`,
    params: [tenantName, ids],
  });
  return rows.map((row) => row.id);
}

/** One dimension of the copy. */
export function copiedDimension(tenantName: string, dimensionId: number) {
  return {
    query: `SELECT dimension_id, ${fields} FROM dimensions WHERE tenant_name = $1 AND dimension_id = $2`,
    params: [tenantName, dimensionId],
  };
}

/** Ids of one statement: as many as a request's line holds. */
const IDS_AT_ONCE = 500;

/** What ClickHouse knows of these ids; those that it does not know are left out. */
export async function lookUpDimensions(
  client: ClickHouseClient,
  ids: readonly number[],
  signal?: AbortSignal,
): Promise<Dimension[]> {
  const found: Dimension[] = [];
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    const read = {
      query: `SELECT dimension_id, ${fields} FROM dimensions WHERE dimension_id IN {ids:Array(UInt64)} LIMIT 1 BY dimension_id`,
      params: { ids: ids.slice(from, from + IDS_AT_ONCE) },
    };
    found.push(...(await readRows<Dimension>(client, read, signal)));
  }
  return found;
}

/** Adds to the copy what it lacks. Ascending, so that two who add the same wait for each other and never both. */
export async function copyDimensions(
  postgres: Pool | PoolClient,
  tenantName: string,
  dimensions: readonly Dimension[],
): Promise<void> {
  if (dimensions.length === 0) return;
  const columns = dimensionFields.map((field) => dimensions.map((dimension) => dimension[field]));
  const texts = dimensionFields.map((_, index) => `$${index + 3}::text[]`).join(", ");
  await runStatement(postgres, {
    query: `INSERT INTO dimensions (tenant_name, dimension_id, ${fields})
     SELECT $1, * FROM unnest($2::bigint[], ${texts}) AS d (dimension_id, ${fields}) ORDER BY dimension_id
     ON CONFLICT DO NOTHING`,
    params: [tenantName, dimensions.map((dimension) => dimension.dimension_id), ...columns],
  });
}

/**
 * The copy of ClickHouse's dimensions in Postgres. It is filled after each run, and single dimensions are added when a
 * missing id is requested. With it, tags are checked, written and listed while ClickHouse is unreachable.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool, PoolClient } from "pg";
import { readRows } from "../clickhouse/statement.js";
import type { CostType } from "../domain/allocation-rule.js";
import { dimensionFields } from "../domain/dimension-id.js";
import { runStatement } from "../postgres/statement.js";

export interface Dimension {
  readonly dimension_id: number;
  readonly ecosystem: string;
  readonly tenant_id: string;
  readonly env_id: string;
  readonly resource_id: string;
  readonly product_category: string;
  readonly product_type: string;
  readonly identity_id: string;
  readonly cost_type: CostType;
}

const fields = dimensionFields.join(", ");

/**
 * Returns the ids that the copy misses, ascending. Looks each up by the index: a join would read the whole copy for
 * each batch of a bulk.
 */
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

/** Selects one dimension of the copy. */
export function copiedDimension(tenantName: string, dimensionId: number) {
  return {
    query: `SELECT dimension_id, ${fields} FROM dimensions WHERE tenant_name = $1 AND dimension_id = $2`,
    params: [tenantName, dimensionId],
  };
}

/** The most ids in one statement: as many as fit into a request's line. */
const IDS_AT_ONCE = 500;

/** Reads the dimensions of these ids from ClickHouse, without ids that it does not have. */
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

/**
 * Adds missing dimensions to the copy, in ascending order, so that two writers of the same dimensions cannot deadlock.
 */
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

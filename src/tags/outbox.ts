/**
 * The outbox: tags whose current state is not in the tenant's ClickHouse yet. Written with the tags, emptied by the
 * mirror.
 */
import type { Pool, PoolClient } from "pg";
import { runStatement } from "../postgres/statement.js";

/** The most tags per outbox row, so that the mirror writes small batches. */
export const TAGS_PER_ENTRY = 10_000;

/** `tags` maps ids of tags to their dimensions. */
export async function addToOutbox(
  client: PoolClient,
  tenantName: string,
  tags: ReadonlyMap<number, number>,
): Promise<void> {
  const all = [...tags];
  for (let from = 0; from < all.length; from += TAGS_PER_ENTRY) {
    const some = all.slice(from, from + TAGS_PER_ENTRY);
    await runStatement(client, {
      query: "INSERT INTO tag_outbox (tenant_name, tag_ids, dimension_ids) VALUES ($1, $2, $3)",
      params: [tenantName, some.map(([tagId]) => tagId), some.map(([, dimensionId]) => dimensionId)],
    });
  }
}

/** Returns whether changes are pending. Costs one index lookup. */
export async function isWaiting(postgres: Pool | PoolClient, tenantName: string): Promise<boolean> {
  const { rows } = await runStatement<{ waiting: boolean }>(postgres, {
    query: "SELECT EXISTS (SELECT FROM tag_outbox WHERE tenant_name = $1) AS waiting",
    params: [tenantName],
  });
  return rows[0]?.waiting === true;
}

/** A tag in its current state; without a key if it was removed. */
export interface WaitingTag {
  readonly tag_id: number;
  readonly dimension_id: number;
  readonly tag_key: string | null;
  readonly display_name: string | null;
}

export interface WaitingChanges {
  readonly outboxIds: readonly number[];
  readonly tags: readonly WaitingTag[];
}

/** Reads the oldest changes of a tenant, a few entries at once. Requires the lock of the mirror. */
export async function oldestChanges(client: PoolClient, tenantName: string): Promise<WaitingChanges> {
  const entries = await runStatement<{ outbox_id: number }>(client, {
    query: "SELECT outbox_id FROM tag_outbox WHERE tenant_name = $1 ORDER BY outbox_id LIMIT 10",
    params: [tenantName],
  });
  const outboxIds = entries.rows.map((row) => row.outbox_id);
  if (outboxIds.length === 0) return { outboxIds, tags: [] };
  const { rows: tags } = await runStatement<WaitingTag>(client, {
    query: `
SELECT c.tag_id, c.dimension_id, t.tag_key, l.display_name
FROM (SELECT DISTINCT u.tag_id, u.dimension_id FROM tag_outbox, unnest(tag_ids, dimension_ids) AS u (tag_id, dimension_id)
      WHERE outbox_id = ANY($2)) AS c
LEFT JOIN tags AS t ON t.tenant_name = $1 AND t.tag_id = c.tag_id
LEFT JOIN tag_labels AS l ON l.label_id = t.label_id`,
    params: [tenantName, outboxIds],
  });
  return { outboxIds, tags };
}

export async function forgetChanges(client: PoolClient, outboxIds: readonly number[]): Promise<void> {
  await runStatement(client, {
    query: "DELETE FROM tag_outbox WHERE outbox_id = ANY($1)",
    params: [outboxIds],
  });
}

/** Returns those of the tenants that have a mirror or need one. */
export async function mirroredTenants(
  postgres: Pool,
  tenantNames: readonly string[],
): Promise<{ tenant_name: string; waiting: boolean }[]> {
  const { rows } = await runStatement<{ tenant_name: string; waiting: boolean }>(postgres, {
    query: `
SELECT tenant_name, waiting
FROM (SELECT name AS tenant_name, EXISTS (SELECT FROM tag_outbox WHERE tenant_name = name) AS waiting
      FROM unnest($1::text[]) AS tenant (name)) AS t
WHERE waiting OR EXISTS (SELECT FROM tag_mirrors AS m WHERE m.tenant_name = t.tenant_name AND version > 0)`,
    params: [tenantNames],
  });
  return rows;
}

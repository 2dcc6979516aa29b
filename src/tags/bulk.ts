/**
 * One tag on many dimensions, in one transaction. Dimensions come in batches of any number of ids, so that a bulk by filter is
 * streamed and never held as a whole.
 *
 * Measured: see `bench/tags.ts`. The outbox entry of a batch is written by the statement that writes its tags: their ids never
 * come to this process.
 */
import { readPostgres, runStatement } from "../store/postgres/statement.js";
import { labelIds } from "./labels.js";
import { type TagTransaction, type TagWriter, writeTags } from "./transaction.js";
import type { TagInput } from "./write.js";

export interface BulkInput extends TagInput {
  /** Tags that are there get the new name and author, and keep their value; otherwise they are left as they are. */
  readonly override_existing: boolean;
}

export interface BulkCounts {
  readonly created_count: number;
  readonly updated_count: number;
  readonly skipped_count: number;
}

/** Batches of ids, ascending over all of them and without repetition, of dimensions that the copy in Postgres has. */
export type DimensionBatches = () => AsyncIterable<readonly number[]>;

export async function tagInBulk(
  writer: TagWriter,
  input: BulkInput,
  dimensions: DimensionBatches,
): Promise<BulkCounts> {
  const { postgres, tenantName, stop } = writer;
  const [labelId = 0] = await labelIds(postgres, tenantName, [input], stop?.signal);
  return await writeTags(writer, async (tx) => {
    const counts = { created_count: 0, updated_count: 0, skipped_count: 0 };
    for await (const ids of dimensions()) {
      const updated = input.override_existing ? await override(tx, input, labelId, ids, "all") : 0;
      const created = updated === ids.length ? 0 : await create(tx, input, labelId, ids);
      const left = ids.length - created - updated;
      counts.created_count += created;
      counts.updated_count += updated;
      if (!input.override_existing) counts.skipped_count += left;
      else if (left > 0) {
        // Somebody made these between our two statements.
        await override(tx, input, labelId, ids, "others");
        counts.updated_count += left;
      }
    }
    if (counts.created_count + counts.updated_count > 0) tx.note(counts);
    return counts;
  });
}

/** What `tagInBulk` would do if nobody else tagged meanwhile. Changes nothing. */
export async function previewBulk(
  { postgres, tenantName, stop }: TagWriter,
  input: BulkInput,
  dimensions: DimensionBatches,
): Promise<BulkCounts> {
  let [there, absent] = [0, 0];
  for await (const ids of dimensions()) {
    const params = [tenantName, ids, input.tag_key];
    const [row] = await readPostgres<{ tags: number }>(postgres, { query: TAGGED, params }, stop?.signal);
    there += row?.tags ?? 0;
    absent += ids.length - (row?.tags ?? 0);
  }
  return input.override_existing
    ? { created_count: absent, updated_count: there, skipped_count: 0 }
    : { created_count: absent, updated_count: 0, skipped_count: there };
}

/** Of these dimensions, how many have a tag with the key. Each by its index, like OVERRIDE. */
const TAGGED = `
SELECT count(*)::int AS tags FROM unnest($2::bigint[]) AS wanted (id), LATERAL (
  SELECT FROM tags WHERE dimension_id = wanted.id AND tenant_name = $1 AND tag_key = $3
) AS found`;

/** Tags that are there, or those of them that are not as they should be. Locked in the order of their dimensions, like those that are made. */
async function override(
  tx: TagTransaction,
  input: BulkInput,
  labelId: number,
  ids: readonly number[],
  which: "all" | "others",
): Promise<number> {
  const { rows } = await runStatement<{ label_id: number; tags: number }>(tx.client, {
    query: OVERRIDE,
    params: [tx.tenantName, ids, input.tag_key, labelId, input.created_by, which === "all"],
  });
  for (const row of rows) tx.count(row.label_id, -row.tags);
  const updated = rows.reduce((sum, row) => sum + row.tags, 0);
  tx.count(labelId, updated);
  return updated;
}

/**
 * Each tag by its index, both when it is locked and when it is changed: the planner knows nothing of the ids, and left to itself
 * may read all tags of all tenants for each batch. Locked in the order of the ids.
 */
const OVERRIDE = `
WITH before AS MATERIALIZED (
  SELECT t.tag_id, t.label_id FROM unnest($2::bigint[]) AS wanted (id), LATERAL (
    SELECT tag_id, label_id FROM tags WHERE dimension_id = wanted.id AND tenant_name = $1 AND tag_key = $3
      AND ($6 OR label_id <> $4 OR created_by <> $5)
    FOR UPDATE
  ) AS t
), changed AS (
  UPDATE tags SET label_id = $4, created_by = $5
  WHERE tenant_name = $1 AND tag_id = ANY(ARRAY(SELECT tag_id FROM before))
  RETURNING tag_id, dimension_id
), noted AS (
  INSERT INTO tag_outbox (tenant_name, tag_ids, dimension_ids)
  SELECT $1, array_agg(tag_id), array_agg(dimension_id) FROM changed HAVING count(*) > 0
)
SELECT label_id, count(*) AS tags FROM before GROUP BY label_id`;

/** Tags that are missing; answers how many were. */
async function create(
  tx: TagTransaction,
  input: BulkInput,
  labelId: number,
  ids: readonly number[],
): Promise<number> {
  const { rows } = await runStatement<{ created: number }>(tx.client, {
    query: CREATE,
    params: [tx.tenantName, ids, input.tag_key, labelId, input.created_by],
  });
  const created = rows[0]?.created ?? 0;
  tx.count(labelId, created);
  return created;
}

const CREATE = `
WITH made AS (
  INSERT INTO tags (tenant_name, dimension_id, tag_key, label_id, created_by)
  SELECT $1, dimension_id, $3, $4, $5 FROM unnest($2::bigint[]) AS wanted (dimension_id) ORDER BY dimension_id
  ON CONFLICT (tenant_name, dimension_id, tag_key) DO NOTHING RETURNING tag_id, dimension_id
), noted AS (
  INSERT INTO tag_outbox (tenant_name, tag_ids, dimension_ids)
  SELECT $1, array_agg(tag_id), array_agg(dimension_id) FROM made HAVING count(*) > 0
)
SELECT count(*) AS created FROM made`;

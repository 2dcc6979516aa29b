/**
 * Puts one tag on many dimensions, in one transaction. Dimensions come in batches of ids, so that a bulk by filter is
 * streamed and never in memory as a whole.
 *
 * Measured: see `bench/tags.ts`. The statement that writes a batch of tags also writes its outbox entry, so tag ids
 * never reach this process.
 */
import { readPostgres, runStatement } from "../postgres/statement.js";
import { labelIds } from "./labels.js";
import { type TagTransaction, type TagWriter, writeTags } from "./transaction.js";
import type { TagInput } from "./write.js";

export interface BulkInput extends TagInput {
  /** Gives existing tags the new name and author, and keeps their value. Otherwise, existing tags are skipped. */
  readonly override_existing: boolean;
}

export interface BulkCounts {
  readonly created_count: number;
  readonly updated_count: number;
  readonly skipped_count: number;
}

/** Batches of ids, ascending over all batches and without duplicates, of dimensions that the copy in Postgres has. */
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
      const rest = ids.length - created - updated;
      counts.created_count += created;
      counts.updated_count += updated;
      if (!input.override_existing) counts.skipped_count += rest;
      else if (rest > 0) {
        // Another writer added these tags between the two statements.
        await override(tx, input, labelId, ids, "others");
        counts.updated_count += rest;
      }
    }
    if (counts.created_count + counts.updated_count > 0) tx.audit(counts);
    return counts;
  });
}

/** Returns the counts that `tagInBulk` would have if nobody else wrote tags meanwhile. Changes nothing. */
export async function previewBulk(
  { postgres, tenantName, stop }: TagWriter,
  input: BulkInput,
  dimensions: DimensionBatches,
): Promise<BulkCounts> {
  let [tagged, untagged] = [0, 0];
  for await (const ids of dimensions()) {
    const params = [tenantName, ids, input.tag_key];
    const [row] = await readPostgres<{ tags: number }>(postgres, { query: TAGGED, params }, stop?.signal);
    tagged += row?.tags ?? 0;
    untagged += ids.length - (row?.tags ?? 0);
  }
  return input.override_existing
    ? { created_count: untagged, updated_count: tagged, skipped_count: 0 }
    : { created_count: untagged, updated_count: 0, skipped_count: tagged };
}

/** Counts how many of these dimensions have a tag with the key. Looks each up by its index, like OVERRIDE. */
const TAGGED = `
SELECT count(*)::int AS tags FROM unnest($2::bigint[]) AS wanted (id), LATERAL (
  SELECT FROM tags WHERE dimension_id = wanted.id AND tenant_name = $1 AND tag_key = $3
) AS found`;

/**
 * Updates existing tags, or only those that differ from the input. Locks them in the order of their dimensions, as
 * `create` does.
 */
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
 * Finds each tag by its index, both to lock and to change it. The planner knows nothing about the ids, and otherwise
 * may read all tags of all tenants for each batch. Tags are locked in the order of the ids.
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

/** Adds the missing tags and returns their number. */
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

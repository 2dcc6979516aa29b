/** Writes the tags of one dimension. Each call is one transaction. */
import { readPostgres, runStatement } from "../postgres/statement.js";
import { labelIds } from "./labels.js";
import { DimensionNotFoundError, TagKeyTakenError, TagNotFoundError } from "./tag-errors.js";
import { type TagRecord, tagsById, tagsOfDimension } from "./tag-record.js";
import type { Label } from "./tag-text.js";
import { lockDimension, type TagTransaction, type TagWriter, writeTags } from "./transaction.js";

/** A client's input for a tag. The service generates its id, value and time. */
export interface TagInput extends Label {
  readonly created_by: string;
}

export interface DimensionOfTenant extends TagWriter {
  readonly dimensionId: number;
}

/** Throws DimensionNotFoundError or TagKeyTakenError. */
export async function addTag(on: DimensionOfTenant, input: TagInput): Promise<TagRecord> {
  const labels = await labelIds(on.postgres, on.tenantName, [input], on.stop?.signal);
  return await writeTags(on, async (tx) => {
    await lockExistingDimension(tx, on.dimensionId);
    const [tagId] = await insertTags(tx, on.dimensionId, [input], labels);
    if (tagId === undefined) throw new Error("a tag that was just added is missing");
    tx.audit({ tag_id: tagId });
    return await readTag(tx, tagId);
  });
}

export interface TagChanges {
  /** Replaces all tags. */
  readonly tags?: readonly TagInput[] | undefined;
  readonly add_tags?: readonly TagInput[] | undefined;
  readonly remove_tag_ids?: readonly number[] | undefined;
}

/**
 * Replaces, then removes, then adds, so that a removed key can be added again. Throws DimensionNotFoundError,
 * TagKeyTakenError or TagNotFoundError; then nothing has changed. Returns all tags of the dimension after the change.
 */
export async function changeTags(on: DimensionOfTenant, changes: TagChanges): Promise<TagRecord[]> {
  const { postgres, tenantName, dimensionId } = on;
  const replacing = changes.tags ?? [];
  const adding = changes.add_tags ?? [];
  const labels = await labelIds(postgres, tenantName, [...replacing, ...adding], on.stop?.signal);
  return await writeTags(on, async (tx) => {
    await lockExistingDimension(tx, dimensionId);
    const replaced = changes.tags === undefined ? [] : await removeTags(tx, dimensionId);
    await insertTags(tx, dimensionId, replacing, labels);
    const ids = [...new Set(changes.remove_tag_ids ?? [])];
    const removed = ids.length === 0 ? [] : await removeTags(tx, dimensionId, ids);
    const missing = ids.find((id) => !removed.some((tag) => tag.tag_id === id));
    if (missing !== undefined) throw new TagNotFoundError(missing, dimensionId);
    await insertTags(tx, dimensionId, adding, labels.slice(replacing.length));
    const removedTags = [...replaced, ...removed].map(auditedTag);
    if (removedTags.length + replacing.length + adding.length > 0) tx.audit({ removed: removedTags });
    const { query, params } = tagsOfDimension(tenantName, dimensionId);
    return (await runStatement<TagRecord>(tx.client, { query: query, params: [...params] })).rows;
  });
}

export interface TagOfTenant extends TagWriter {
  readonly tagId: number;
}

/** Renames a tag; its key and value stay. Throws TagNotFoundError. */
export async function renameTag(tag: TagOfTenant, displayName: string): Promise<TagRecord> {
  const { postgres, tenantName, tagId } = tag;
  const where = "WHERE tenant_name = $1 AND tag_id = $2";
  const key = { query: `SELECT tag_key FROM tags ${where}`, params: [tenantName, tagId] };
  const [found] = await readPostgres<{ tag_key: string }>(postgres, key, tag.stop?.signal);
  const tag_key = found?.tag_key; // never changes
  if (tag_key === undefined) throw new TagNotFoundError(tagId);
  const label = { tag_key, display_name: displayName };
  const [labelId = 0] = await labelIds(postgres, tenantName, [label], tag.stop?.signal);
  return await writeTags(tag, async (tx) => {
    const { rows } = await runStatement<Omit<NamedTag, "tag_id" | "tag_key">>(tx.client, {
      query: `SELECT label_id, dimension_id, ${NAME} FROM tags ${where} FOR UPDATE`,
      params: [tenantName, tagId],
    });
    const [before] = rows;
    if (before === undefined) throw new TagNotFoundError(tagId);
    const { dimension_id } = before;
    if (before.label_id !== labelId) {
      await runStatement(tx.client, {
        query: `UPDATE tags SET label_id = $3 ${where}`,
        params: [tenantName, tagId, labelId],
      });
      tx.count(before.label_id, -1);
      tx.count(labelId, 1);
      tx.changed(tagId, dimension_id);
      tx.audit({ dimension_id, tag_key, former_display_name: before.display_name });
    }
    return await readTag(tx, tagId);
  });
}

/** Throws TagNotFoundError. */
export async function deleteTag(tag: TagOfTenant): Promise<void> {
  const { tenantName, tagId } = tag;
  await writeTags(tag, async (tx) => {
    const { rows } = await runStatement<NamedTag>(tx.client, {
      query: `DELETE FROM tags WHERE tenant_name = $1 AND tag_id = $2 RETURNING ${REMOVED}`,
      params: [tenantName, tagId],
    });
    const [removed] = rows;
    if (removed === undefined) throw new TagNotFoundError(tagId);
    markRemoved(tx, rows);
    tx.audit({ dimension_id: removed.dimension_id, ...auditedTag(removed) });
  });
}

interface RemovedTag {
  readonly tag_id: number;
  readonly label_id: number;
  readonly dimension_id: number;
}

/** A removed tag for the audit log, the only place that still has it. */
interface NamedTag extends RemovedTag, Label {}

const auditedTag = ({ tag_id, tag_key, display_name }: NamedTag) => ({ tag_id, tag_key, display_name });

const NAME = "(SELECT display_name FROM tag_labels AS l WHERE l.label_id = tags.label_id) AS display_name";
const REMOVED = `tag_id, label_id, dimension_id, tag_key, ${NAME}`;

export function markRemoved(tx: TagTransaction, removed: readonly RemovedTag[]): void {
  for (const { tag_id, label_id, dimension_id } of removed) {
    tx.count(label_id, -1);
    tx.changed(tag_id, dimension_id);
  }
}

/** Locks the tags of the dimension against other writers. Throws if the dimension does not exist. */
async function lockExistingDimension(tx: TagTransaction, dimensionId: number): Promise<void> {
  await lockDimension(tx, dimensionId);
  const { rowCount } = await runStatement(tx.client, {
    query: "SELECT FROM dimensions WHERE tenant_name = $1 AND dimension_id = $2",
    params: [tx.tenantName, dimensionId],
  });
  if (rowCount === 0) throw new DimensionNotFoundError(dimensionId);
}

/** `labels` are the ids of the inputs' labels, in their order; may be longer. Returns the ids of the new tags. */
async function insertTags(
  tx: TagTransaction,
  dimensionId: number,
  inputs: readonly TagInput[],
  labels: readonly number[],
): Promise<number[]> {
  if (inputs.length === 0) return [];
  const keys = inputs.map((input) => input.tag_key);
  const { rows } = await runStatement<{ tag_id: number; tag_key: string; label_id: number }>(tx.client, {
    query: `INSERT INTO tags (tenant_name, dimension_id, tag_key, label_id, created_by)
     SELECT $1, $2, tag_key, label_id, created_by
     FROM unnest($3::text[], $4::bigint[], $5::text[]) WITH ORDINALITY AS input (tag_key, label_id, created_by, place) ORDER BY place
     ON CONFLICT (tenant_name, dimension_id, tag_key) DO NOTHING RETURNING tag_id, tag_key, label_id`,
    params: [
      tx.tenantName,
      dimensionId,
      keys,
      labels.slice(0, inputs.length),
      inputs.map((input) => input.created_by),
    ],
  });
  const remaining = rows.map((row) => row.tag_key);
  for (const key of keys) {
    const index = remaining.indexOf(key);
    if (index === -1) throw new TagKeyTakenError(key, dimensionId);
    remaining.splice(index, 1);
  }
  for (const row of rows) {
    tx.count(row.label_id, 1);
    tx.changed(row.tag_id, dimensionId);
  }
  return rows.map((row) => row.tag_id);
}

/** Removes all tags of the dimension, or those with the ids. */
async function removeTags(
  tx: TagTransaction,
  dimensionId: number,
  tagIds: readonly number[] | null = null,
): Promise<NamedTag[]> {
  const { rows } = await runStatement<NamedTag>(tx.client, {
    query: `DELETE FROM tags WHERE tenant_name = $1 AND dimension_id = $2 AND ($3::bigint[] IS NULL OR tag_id = ANY($3))
     RETURNING ${REMOVED}`,
    params: [tx.tenantName, dimensionId, tagIds],
  });
  markRemoved(tx, rows);
  return rows;
}

async function readTag(tx: TagTransaction, tagId: number): Promise<TagRecord> {
  const { query, params } = tagsById(tx.tenantName, [tagId]);
  const [tag] = (await runStatement<TagRecord>(tx.client, { query: query, params: [...params] })).rows;
  if (tag === undefined) throw new Error("a tag that was just written is missing");
  return tag;
}

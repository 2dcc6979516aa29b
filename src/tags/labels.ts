/**
 * Labels: the distinct pairs of key and display name, each with the number of its tags. A tag points to its label, so
 * that a search over a million tags reads only the few labels.
 */
import { createHash } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { readPostgres, runStatement } from "../postgres/statement.js";
import { type Label, searchText } from "./tag-text.js";

/**
 * Returns ids of labels, in their order, and adds missing labels. Runs before the writer's transaction: a label that a
 * long bulk has not committed yet would block every other writer of that label. An unused label does no harm.
 */
export async function labelIds(
  postgres: Pool,
  tenantName: string,
  labels: readonly Label[],
  signal?: AbortSignal,
): Promise<number[]> {
  if (labels.length === 0) return [];
  const hashes = labels.map(labelHash);
  const made = [
    tenantName,
    hashes,
    labels.map((label) => label.tag_key),
    labels.map((label) => label.display_name),
    labels.map(searchText),
  ];
  await readPostgres(postgres, { query: MAKE_LABELS, params: made }, signal);
  const found = { query: FIND_LABELS, params: [tenantName, hashes] };
  const rows = await readPostgres<{ label_id: number; label_hash: Buffer }>(postgres, found, signal);
  const ids = new Map(rows.map((row) => [row.label_hash.toString("hex"), row.label_id]));
  return hashes.map((hash) => {
    const id = ids.get(hash.toString("hex"));
    if (id === undefined) throw new Error("a label that was just added is missing");
    return id;
  });
}

const FIND_LABELS =
  "SELECT label_id, label_hash FROM tag_labels WHERE tenant_name = $1 AND label_hash = ANY($2)";

/**
 * Updates `used_at` once an hour, which keeps a label without tags from being dropped before its first tag is written.
 */
const MAKE_LABELS = `
INSERT INTO tag_labels (tenant_name, label_hash, tag_key, display_name, search_text)
SELECT DISTINCT ON (label_hash) $1, label_hash, tag_key, display_name, search_text
FROM unnest($2::bytea[], $3::text[], $4::text[], $5::text[]) AS wanted (label_hash, tag_key, display_name, search_text)
ORDER BY label_hash
ON CONFLICT (tenant_name, label_hash) DO UPDATE SET used_at = now() WHERE tag_labels.used_at < now() - interval '1 hour'`;

function labelHash(label: Label): Buffer {
  return createHash("sha256").update(`${label.tag_key}\n${label.display_name}`).digest();
}

/**
 * Adds to the counts of tags. This is the last statement of a transaction: writers share labels, so they are locked
 * only while it commits. They are locked in the order of their ids, so that no two writers deadlock.
 */
export async function addToLabelCounts(
  client: PoolClient,
  counts: ReadonlyMap<number, number>,
): Promise<void> {
  const changed = [...counts].filter(([, added]) => added !== 0).sort(([a], [b]) => a - b);
  if (changed.length === 0) return;
  const ids = changed.map(([id]) => id);
  await runStatement(client, {
    query: "SELECT FROM tag_labels WHERE label_id = ANY($1) ORDER BY label_id FOR UPDATE",
    params: [ids],
  });
  await runStatement(client, {
    query: `UPDATE tag_labels SET tag_count = tag_count + added
     FROM unnest($1::bigint[], $2::bigint[]) AS change (id, added) WHERE label_id = id`,
    params: [ids, changed.map(([, added]) => added)],
  });
}

/**
 * SQL for the time when an entity of `batch` was created: the upstream's value, or for entities that are known only by
 * their costs the earliest cost ever read. $1 tenant_name.
 */
export function createdAt(table: "resources" | "identities", id: string): string {
  const known = `(SELECT created_at FROM ${table} AS before WHERE before.tenant_name = $1 AND before.${id} = batch.${id})`;
  return `coalesce(batch.created_at, CASE WHEN first_seen IS NOT NULL THEN least(first_seen, ${known}) END)`;
}

/** Columns of a batch that an upstream listed: its entities exist now, whatever they cost. */
export const seenNow = "NULL::timestamptz AS first_seen, NULL::timestamptz AS last_seen";

/**
 * SQL condition: an entity of `batch` that is known only by its costs is already stored as it would be written.
 * `columns` are the other written columns. $1 tenant_name, $2 ecosystem, $3 tenant_id.
 */
export function isAsBefore(
  table: "resources" | "identities",
  id: string,
  columns: readonly string[],
): string {
  const of = (row: string) => columns.map((column) => `${row}.${column}`).join(", ");
  return `(batch.last_seen IS NOT NULL AND EXISTS (
      SELECT FROM ${table} AS stored
      WHERE stored.tenant_name = $1 AND stored.${id} = batch.${id} AND stored.deleted_at IS NULL
        AND (stored.ecosystem, stored.tenant_id, stored.last_seen_at, stored.created_at, ${of("stored")}) IS NOT DISTINCT FROM
          ($2, $3, batch.last_seen, coalesce(batch.created_at, least(batch.first_seen, stored.created_at)), ${of("batch")})
    ))`;
}

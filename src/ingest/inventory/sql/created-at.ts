/**
 * When the entity of a row of `batch` was created, as SQL: what the upstream says; of what is known by its costs alone, the earliest of
 * them that was ever read. $1 tenant_name.
 */
export function createdAt(table: "resources" | "identities", id: string): string {
  const known = `(SELECT created_at FROM ${table} AS before WHERE before.tenant_name = $1 AND before.${id} = batch.${id})`;
  return `coalesce(batch.created_at, CASE WHEN first_seen IS NOT NULL THEN least(first_seen, ${known}) END)`;
}

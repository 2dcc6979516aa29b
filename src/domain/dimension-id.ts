/**
 * Derives the id of a dimension: a hash of its fields, so that the same dimension has the same id after a
 * recalculation, a re-import, or in a rebuilt store. `allocate` writes with these expressions and `query` reads with
 * them.
 */
export const dimensionFields = [
  "ecosystem",
  "tenant_id",
  "env_id",
  "resource_id",
  "product_category",
  "product_type",
  "identity_id",
  "cost_type",
] as const;

/** 53 bits: the largest integer that a JSON number represents exactly. */
export const dimensionIdMask = 2n ** 53n - 1n;

/**
 * SQL for a 128-bit hash of a dimension, from columns with the names of its fields (or `prefix.name`). It distinguishes
 * colliding ids from a repetition of the same dimension. The casts make it independent of how a column is stored.
 */
export function fingerprintSql(prefix = ""): string {
  const fields = dimensionFields.map((field) => `CAST(${prefix}${field} AS String)`).join(", ");
  return `reinterpretAsUInt128(sipHash128(${fields}))`;
}

/** SQL for the id of a dimension without a collision, from its fingerprint. */
export function plainDimensionIdSql(fingerprint: string, mask: bigint = dimensionIdMask): string {
  return `bitAnd(reinterpretAsUInt64(${fingerprint}), ${mask})`;
}

/** Returns the id of a dimension without a collision, from a fingerprint that was read. */
export function plainDimensionId(fingerprint: bigint): number {
  return Number(fingerprint & dimensionIdMask);
}

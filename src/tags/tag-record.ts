/** Reads of tags: one record, those of a dimension, and pages of all tags of a tenant. */

/** A complete tag. */
export interface TagRecord {
  readonly tag_id: number;
  readonly dimension_id: number;
  readonly tag_key: string;
  /** A UUID that the service generates. */
  readonly tag_value: string;
  readonly display_name: string;
  readonly created_by: string;
  /** `2026-01-01T00:00:00.000Z`. */
  readonly created_at: string;
}

/** A tag with its dimension's columns. */
export interface TagInContext extends TagRecord {
  readonly identity_id: string;
  readonly product_type: string;
  readonly resource_id: string;
}

/** A Postgres statement and its values. */
export interface TagRead {
  readonly query: string;
  readonly params: readonly unknown[];
}

const record = `t.tag_id, t.dimension_id, t.tag_key, t.tag_value, l.display_name, t.created_by,
  replace(to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '.000Z', 'Z') AS created_at`;
const tags = "tags AS t JOIN tag_labels AS l USING (label_id)";

/** Selects TagRecord, by tag_id. */
export function tagsOfDimension(tenantName: string, dimensionId: number): TagRead {
  return {
    query: `SELECT ${record} FROM ${tags} WHERE t.tenant_name = $1 AND t.dimension_id = $2 ORDER BY t.tag_id`,
    params: [tenantName, dimensionId],
  };
}

/** Selects TagRecord, by tag_id. */
export function tagsById(tenantName: string, tagIds: readonly number[]): TagRead {
  return {
    query: `SELECT ${record} FROM ${tags} WHERE t.tenant_name = $1 AND t.tag_id = ANY($2) ORDER BY t.tag_id`,
    params: [tenantName, tagIds],
  };
}

/** Selects TagInContext, by tag_id. */
export function tagsInContext(tenantName: string, tagIds: readonly number[]): TagRead {
  return {
    query: `
SELECT ${record}, d.identity_id, d.product_type, d.resource_id
FROM ${tags} JOIN dimensions AS d ON d.tenant_name = t.tenant_name AND d.dimension_id = t.dimension_id
WHERE t.tenant_name = $1 AND t.tag_id = ANY($2) ORDER BY t.tag_id`,
    params: [tenantName, tagIds],
  };
}

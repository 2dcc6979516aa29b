/** Types that have active entities, as `resource:cluster` and `identity:principal`. $1 tenant_name. */
export const ACTIVE_TYPES = `
  SELECT DISTINCT 'resource:' || resource_type AS type FROM resources WHERE tenant_name = $1 AND deleted_at IS NULL
  UNION
  SELECT DISTINCT 'identity:' || identity_type FROM identities
  WHERE tenant_name = $1 AND deleted_at IS NULL AND identity_type <> 'system'`;

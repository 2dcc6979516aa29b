/**
 * All resources and identities of a tenant that are or were known, with lifetimes in milliseconds since 1970. Deleted
 * ones are included, because a day before the deletion still needs them. $1 tenant_name.
 */
const LIFETIME = `(extract(epoch FROM created_at) * 1000)::float8 AS created_at,
    (extract(epoch FROM deleted_at) * 1000)::float8 AS deleted_at`;

/**
 * A new earlier state begins only if the data that gatherers use differs: a new name or a deletion does not begin one.
 */
export const READ_KNOWN_RESOURCES = `
  WITH versions AS (
    SELECT resource_id, owner_id, metadata, valid_to,
           lead(owner_id) OVER following AS next_owner, lead(metadata) OVER following AS next_metadata
    FROM resource_versions WHERE tenant_name = $1
    WINDOW following AS (PARTITION BY resource_id ORDER BY valid_to)
  ), earlier AS (
    SELECT resource_id, jsonb_agg(jsonb_build_object(
             'until', (extract(epoch FROM valid_to) * 1000)::float8, 'owner_id', owner_id, 'metadata', metadata
           ) ORDER BY valid_to) AS states
    FROM versions
    WHERE valid_to < 'infinity' AND (owner_id, metadata) IS DISTINCT FROM (next_owner, next_metadata)
    GROUP BY resource_id
  )
  SELECT resource_id, resource_type, parent_id, owner_id, metadata, states AS earlier, ${LIFETIME}
  FROM resources LEFT JOIN earlier USING (resource_id) WHERE tenant_name = $1 ORDER BY resource_id`;

/** Without identities that are known only by their costs, because they must not influence who gets costs. */
export const READ_KNOWN_IDENTITIES = `
  SELECT identity_id, identity_type, metadata, ${LIFETIME}
  FROM identities WHERE tenant_name = $1 AND identity_type NOT IN ('system', 'charged') ORDER BY identity_id`;

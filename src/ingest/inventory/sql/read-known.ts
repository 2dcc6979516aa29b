/**
 * Everything that is or was known of a tenant's resources and identities, with lifetimes in milliseconds since 1970. The
 * deleted too: a day that lies before the deletion has to find whom it found then. $1 tenant_name.
 */
const LIFETIME = `(extract(epoch FROM created_at) * 1000)::float8 AS created_at,
    (extract(epoch FROM deleted_at) * 1000)::float8 AS deleted_at`;

export const READ_KNOWN_RESOURCES = `
  SELECT resource_id, resource_type, parent_id, owner_id, metadata, ${LIFETIME}
  FROM resources WHERE tenant_name = $1 ORDER BY resource_id`;

export const READ_KNOWN_IDENTITIES = `
  SELECT identity_id, identity_type, metadata, ${LIFETIME}
  FROM identities WHERE tenant_name = $1 AND identity_type <> 'system' ORDER BY identity_id`;

/** See `mark-resources-deleted.ts`; for identities. UNALLOCATED is never deleted, whatever its type. */
export const MARK_IDENTITIES_DELETED = `
  WITH deleted AS (
    UPDATE identities SET deleted_at = $2::timestamptz
    FROM unnest($3::text[], $4::float8[]) AS gone (type, grace)
    WHERE tenant_name = $1 AND identity_type = gone.type AND identity_type <> 'system' AND identity_id <> 'UNALLOCATED'
      AND deleted_at IS NULL AND last_seen_at < $2::timestamptz - make_interval(secs => gone.grace)
    RETURNING identities.*
  ),
  closing AS (
    SELECT deleted.identity_id, deleted.last_seen_at, newest.valid_from
    FROM deleted
    CROSS JOIN LATERAL (
      SELECT valid_from FROM identity_versions AS version
      WHERE version.tenant_name = $1 AND version.identity_id = deleted.identity_id AND version.valid_to = 'infinity'
      LIMIT 1
    ) AS newest
  ),
  closed AS (
    UPDATE identity_versions AS version SET valid_to = $2::timestamptz, last_seen_at = closing.last_seen_at
    FROM closing
    WHERE version.tenant_name = $1 AND version.identity_id = closing.identity_id AND version.valid_from = closing.valid_from
  )
  INSERT INTO identity_versions
    (tenant_name, identity_id, valid_from, valid_to, recorded_at, ecosystem, tenant_id, identity_type, display_name,
     created_at, deleted_at, metadata)
  SELECT $1, identity_id, $2::timestamptz, 'infinity', $2::timestamptz, ecosystem, tenant_id, identity_type, display_name,
    created_at, deleted_at, metadata
  FROM deleted`;

/**
 * Marks resources as deleted that a complete gathering of their type did not return, and adds a version to their
 * history. The time of deletion is that of its detection, because the real time is unknown. The type `system` is never
 * touched. Returns the number of deleted resources.
 *
 * $1 tenant_name, $2 time of this gathering, $3 types, $4 grace period of each type in seconds.
 */
export const MARK_RESOURCES_DELETED = `
  WITH deleted AS (
    UPDATE resources SET status = 'deleted', deleted_at = $2::timestamptz
    FROM unnest($3::text[], $4::float8[]) AS gone (type, grace)
    WHERE tenant_name = $1 AND resource_type = gone.type AND resource_type <> 'system' AND deleted_at IS NULL
      AND last_seen_at < $2::timestamptz - make_interval(secs => gone.grace)
    RETURNING resources.*
  ),
  closing AS (
    SELECT deleted.resource_id, deleted.last_seen_at, newest.valid_from
    FROM deleted
    CROSS JOIN LATERAL (
      SELECT valid_from FROM resource_versions AS version
      WHERE version.tenant_name = $1 AND version.resource_id = deleted.resource_id AND version.valid_to = 'infinity'
      LIMIT 1
    ) AS newest
  ),
  closed AS (
    UPDATE resource_versions AS version SET valid_to = $2::timestamptz, last_seen_at = closing.last_seen_at
    FROM closing
    WHERE version.tenant_name = $1 AND version.resource_id = closing.resource_id AND version.valid_from = closing.valid_from
  )
  INSERT INTO resource_versions
    (tenant_name, resource_id, valid_from, valid_to, recorded_at, ecosystem, tenant_id, resource_type, display_name,
     parent_id, owner_id, status, created_at, deleted_at, metadata)
  SELECT $1, resource_id, $2::timestamptz, 'infinity', $2::timestamptz, ecosystem, tenant_id, resource_type, display_name,
    parent_id, owner_id, status, created_at, deleted_at, metadata
  FROM deleted`;

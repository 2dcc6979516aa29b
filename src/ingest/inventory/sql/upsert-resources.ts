/**
 * Writes a batch of gathered resources in one statement: adds new ones, updates known ones, and reactivates those that
 * were marked as deleted. A known time of creation stays if the upstream no longer states it. Resources that are known
 * only by their costs and did not change are skipped, because Postgres rewrites a row however little changes.
 *
 * New and changed resources also get a version in the history; a gathering without changes writes none. Every part of a
 * statement sees the tables as they were before it, so `resources` in `changed` is the old state. The newest version is
 * looked up for each row: as a join, a planner without statistics compared all with all (100,000 changed resources:
 * minutes instead of seconds).
 *
 * $1 tenant_name, $2 ecosystem, $3 tenant_id, $4 time of this gathering.
 */
import { createdAt, isAsBefore, seenNow } from "./created-at.js";

const upsert = (batch: string) => `
  WITH written AS (
    INSERT INTO resources AS known
      (tenant_name, ecosystem, tenant_id, last_seen_at, status,
       resource_id, resource_type, display_name, parent_id, owner_id, created_at, metadata)
    SELECT $1, $2, $3, coalesce(last_seen, $4::timestamptz), 'active', resource_id, resource_type, display_name, parent_id, owner_id,
      ${createdAt("resources", "resource_id")}, metadata
    FROM ${batch}
    WHERE NOT ${isAsBefore("resources", "resource_id", ["resource_type", "display_name", "parent_id", "owner_id", "metadata"])}
    ON CONFLICT (tenant_name, resource_id) DO UPDATE SET
      ecosystem = excluded.ecosystem,
      tenant_id = excluded.tenant_id,
      last_seen_at = excluded.last_seen_at,
      status = 'active',
      deleted_at = NULL,
      resource_type = excluded.resource_type,
      display_name = excluded.display_name,
      parent_id = excluded.parent_id,
      owner_id = excluded.owner_id,
      created_at = coalesce(excluded.created_at, known.created_at),
      metadata = excluded.metadata
    RETURNING known.*
  ),
  changed AS (
    SELECT written.*, was.last_seen_at AS was_seen_at, newest.valid_from AS known_from, newest.recorded_at
    FROM written
    LEFT JOIN resources AS was USING (tenant_name, resource_id)
    LEFT JOIN LATERAL (
      SELECT valid_from, recorded_at FROM resource_versions AS version
      WHERE version.tenant_name = $1 AND version.resource_id = written.resource_id AND version.valid_to = 'infinity'
      LIMIT 1
    ) AS newest ON true
    WHERE was.resource_id IS NULL
      OR (was.ecosystem, was.tenant_id, was.resource_type, was.display_name, was.parent_id, was.owner_id,
          was.status, was.created_at, was.deleted_at, was.metadata)
        IS DISTINCT FROM (written.ecosystem, written.tenant_id, written.resource_type, written.display_name,
          written.parent_id, written.owner_id, written.status, written.created_at, written.deleted_at, written.metadata)
  ),
  closed AS (
    UPDATE resource_versions AS version SET valid_to = $4::timestamptz, last_seen_at = changed.was_seen_at
    FROM changed
    WHERE version.tenant_name = $1 AND version.resource_id = changed.resource_id AND version.valid_from = changed.known_from
      AND changed.recorded_at < $4::timestamptz
  )
  INSERT INTO resource_versions
    (tenant_name, resource_id, valid_from, valid_to, recorded_at, ecosystem, tenant_id, resource_type, display_name,
     parent_id, owner_id, status, created_at, deleted_at, metadata)
  SELECT $1, changed.resource_id,
    -- The first version begins before all time; one that this very gathering brought is replaced.
    CASE WHEN recorded_at < $4::timestamptz THEN $4::timestamptz ELSE coalesce(known_from, '-infinity') END,
    'infinity', $4::timestamptz, changed.ecosystem, changed.tenant_id, changed.resource_type, changed.display_name,
    changed.parent_id, changed.owner_id, changed.status, changed.created_at, changed.deleted_at, changed.metadata
  FROM changed
  ON CONFLICT (tenant_name, resource_id, valid_from) DO UPDATE SET
    ecosystem = excluded.ecosystem,
    tenant_id = excluded.tenant_id,
    resource_type = excluded.resource_type,
    display_name = excluded.display_name,
    parent_id = excluded.parent_id,
    owner_id = excluded.owner_id,
    status = excluded.status,
    created_at = excluded.created_at,
    deleted_at = excluded.deleted_at,
    metadata = excluded.metadata`;

/**
 * After the four parameters follows one array for each column: a statement with a placeholder for each value would stop
 * at 65,535 of them.
 */
export const UPSERT_RESOURCES = upsert(`(
      SELECT *, ${seenNow}
      FROM unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::timestamptz[], $11::jsonb[])
        AS gathered (resource_id, resource_type, display_name, parent_id, owner_id, created_at, metadata)
    ) AS batch`);

/** Upserts entries of the transaction's `selected_resources` that can be stored. */
export const UPSERT_SELECTED_RESOURCES = upsert(
  "(SELECT * FROM selected_resources WHERE refusal = '') AS batch",
);

/** See `upsert-resources.ts`; for identities. */
import { createdAt, isAsBefore, seenNow } from "./created-at.js";

const upsert = (batch: string) => `
  WITH written AS (
    INSERT INTO identities AS known
      (tenant_name, ecosystem, tenant_id, last_seen_at, identity_id, identity_type, display_name, created_at, metadata)
    SELECT $1, $2, $3, coalesce(last_seen, $4::timestamptz), identity_id, identity_type, display_name,
      ${createdAt("identities", "identity_id")}, metadata
    FROM ${batch}
    WHERE NOT ${isAsBefore("identities", "identity_id", ["identity_type", "display_name", "metadata"])}
    ON CONFLICT (tenant_name, identity_id) DO UPDATE SET
      ecosystem = excluded.ecosystem,
      tenant_id = excluded.tenant_id,
      last_seen_at = excluded.last_seen_at,
      deleted_at = NULL,
      identity_type = excluded.identity_type,
      display_name = excluded.display_name,
      created_at = coalesce(excluded.created_at, known.created_at),
      metadata = excluded.metadata
    RETURNING known.*
  ),
  changed AS (
    SELECT written.*, was.last_seen_at AS was_seen_at, newest.valid_from AS known_from, newest.recorded_at
    FROM written
    LEFT JOIN identities AS was USING (tenant_name, identity_id)
    LEFT JOIN LATERAL (
      SELECT valid_from, recorded_at FROM identity_versions AS version
      WHERE version.tenant_name = $1 AND version.identity_id = written.identity_id AND version.valid_to = 'infinity'
      LIMIT 1
    ) AS newest ON true
    WHERE was.identity_id IS NULL
      OR (was.ecosystem, was.tenant_id, was.identity_type, was.display_name, was.created_at, was.deleted_at, was.metadata)
        IS DISTINCT FROM (written.ecosystem, written.tenant_id, written.identity_type, written.display_name,
          written.created_at, written.deleted_at, written.metadata)
  ),
  closed AS (
    UPDATE identity_versions AS version SET valid_to = $4::timestamptz, last_seen_at = changed.was_seen_at
    FROM changed
    WHERE version.tenant_name = $1 AND version.identity_id = changed.identity_id AND version.valid_from = changed.known_from
      AND changed.recorded_at < $4::timestamptz
  )
  INSERT INTO identity_versions
    (tenant_name, identity_id, valid_from, valid_to, recorded_at, ecosystem, tenant_id, identity_type, display_name,
     created_at, deleted_at, metadata)
  SELECT $1, changed.identity_id,
    CASE WHEN recorded_at < $4::timestamptz THEN $4::timestamptz ELSE coalesce(known_from, '-infinity') END,
    'infinity', $4::timestamptz, changed.ecosystem, changed.tenant_id, changed.identity_type, changed.display_name,
    changed.created_at, changed.deleted_at, changed.metadata
  FROM changed
  ON CONFLICT (tenant_name, identity_id, valid_from) DO UPDATE SET
    ecosystem = excluded.ecosystem,
    tenant_id = excluded.tenant_id,
    identity_type = excluded.identity_type,
    display_name = excluded.display_name,
    created_at = excluded.created_at,
    deleted_at = excluded.deleted_at,
    metadata = excluded.metadata`;

export const UPSERT_IDENTITIES = upsert(`(
      SELECT *, ${seenNow}
      FROM unnest($5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::jsonb[])
        AS gathered (identity_id, identity_type, display_name, created_at, metadata)
    ) AS batch`);

/**
 * Upserts entries of the transaction's `selected_identities` that can be stored and that no upstream has ever listed.
 * $5 teams by identity id, as JSON.
 */
export const UPSERT_CHARGED_IDENTITIES = upsert(`(
      SELECT identity_id, identity_type, display_name, created_at, first_seen, last_seen,
        jsonb_strip_nulls(jsonb_build_object('team', coalesce(configured.team, selected_identities.team))) AS metadata
      FROM selected_identities LEFT JOIN jsonb_each_text($5::jsonb) AS configured (identity_id, team) USING (identity_id)
      WHERE refusal = '' AND NOT EXISTS (
        SELECT FROM identities AS listed
        WHERE listed.tenant_name = $1 AND listed.identity_id = selected_identities.identity_id AND listed.identity_type <> 'charged'
      )
    ) AS batch`);

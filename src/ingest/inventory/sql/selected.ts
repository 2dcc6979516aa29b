/**
 * Temporary tables of one transaction, for entities that the tenant's store selected. `refusal` is empty if an entity
 * can be stored.
 */
const common = `
  refusal    text NOT NULL,
  first_seen timestamptz,
  last_seen  timestamptz,
  created_at timestamptz`;

export const CREATE_SELECTED_RESOURCES = `
CREATE TEMP TABLE selected_resources (
  resource_id   text NOT NULL,
  resource_type text NOT NULL,
  display_name  text,
  parent_id     text,
  owner_id      text,
  metadata      jsonb NOT NULL DEFAULT '{}',${common}
) ON COMMIT DROP`;

export const CREATE_SELECTED_IDENTITIES = `
CREATE TEMP TABLE selected_identities (
  identity_id   text NOT NULL,
  identity_type text NOT NULL,
  display_name  text,
  team          text,${common}
) ON COMMIT DROP`;

/** Returns one row `{type, stored, refused}` for each type. */
export const countSelected = (kind: "resource" | "identity") => `
SELECT ${kind}_type AS type, count(*) FILTER (WHERE refusal = '') AS stored, count(*) FILTER (WHERE refusal <> '') AS refused
FROM ${tableOf[kind]} GROUP BY ${kind}_type`;

/** Returns the first $1 rows `{id, refusal}`. */
export const refusedOfSelected = (kind: "resource" | "identity") => `
SELECT ${kind}_id AS id, refusal FROM ${tableOf[kind]} WHERE refusal <> '' ORDER BY ${kind}_id COLLATE "C" LIMIT $1`;

export const tableOf = { resource: "selected_resources", identity: "selected_identities" } as const;

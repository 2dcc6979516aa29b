/**
 * Names, types and teams of a tenant's inventory, as its ClickHouse shows them: deleted entities too, because their costs stay; topics
 * not, because facts name them. The team of an identity is the text `team` of its metadata, whichever ecosystem wrote it. $1 tenant_name.
 */
const NAMES = `
  SELECT 'identity' AS kind, identity_id AS entity_id, identity_type AS entity_type, coalesce(display_name, '') AS display_name,
    CASE
      WHEN identity_id = 'UNALLOCATED' THEN 'UNALLOCATED'
      WHEN jsonb_typeof(metadata -> 'team') = 'string' AND metadata ->> 'team' <> '' THEN metadata ->> 'team'
      ELSE 'UNASSIGNED'
    END AS team,
    '' AS parent_id, '' AS owner_id, (deleted_at IS NOT NULL)::int AS is_deleted
  FROM identities WHERE tenant_name = $1
  UNION ALL
  SELECT 'resource', resource_id, resource_type, coalesce(display_name, ''), '', coalesce(parent_id, ''), coalesce(owner_id, ''),
    (deleted_at IS NOT NULL)::int
  FROM resources WHERE tenant_name = $1 AND resource_type <> 'topic'`;

/** One row `{content_hash}`. */
export const HASH_NAMES = `
SELECT md5(coalesce(string_agg(md5(n::text), '' ORDER BY kind COLLATE "C", entity_id COLLATE "C"), '')) AS content_hash
FROM (${NAMES}) AS n`;

/** For COPY, which takes no parameters: the tenant's name as a literal of Postgres. The columns are those of `inventory_names` behind `generation`. */
export const copyNamesOf = (tenantName: string) =>
  `COPY (${NAMES.replaceAll("$1", () => tenantName)}) TO STDOUT`;

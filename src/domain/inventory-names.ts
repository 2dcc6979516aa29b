/**
 * SQL for names, types and teams of a tenant's inventory, as its ClickHouse has them, too: rows `{kind, entity_id,
 * entity_type, display_name, team, parent_id, owner_id, is_deleted}`. Deleted entities are included, because their
 * costs stay. Topics are not, because facts name them. The team of an identity is the text `team` in its metadata, in
 * every ecosystem. $1 tenant_name.
 */
export const INVENTORY_NAMES = `
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

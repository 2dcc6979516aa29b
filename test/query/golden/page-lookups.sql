-- {"identities":["sa-1"],"resources":["r-1"],"fingerprints":"[1, 9007199254740994]","dimension_ids":[1,2]}
SELECT toString(kind) AS kind, entity_id AS id, display_name AS name, toString(entity_type) AS type, toString(team) AS team
FROM inventory_names
WHERE generation = (SELECT max(generation) FROM inventory_generations)
  AND ((kind = 'identity' AND entity_id IN {identities:Array(String)}) OR (kind = 'resource' AND entity_id IN {resources:Array(String)}))
UNION ALL
SELECT 'tag', toString(dimension_id), display_name, toString(tag_key), toString(tag_id)
FROM dimension_tags FINAL
WHERE dimension_id IN {dimension_ids:Array(UInt64)}
  OR dimension_id IN (SELECT dimension_id FROM dimension_collisions WHERE fingerprint IN {fingerprints:Array(UInt128)})
UNION ALL
SELECT 'collision', toString(fingerprint), toString(dimension_id), '', ''
FROM dimension_collisions FINAL
WHERE fingerprint IN {fingerprints:Array(UInt128)}

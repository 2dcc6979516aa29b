-- {"identities":["sa-1"],"resources":["r-1"]}
SELECT toString(kind) AS kind, entity_id AS id, display_name AS name, toString(entity_type) AS type, toString(team) AS team
FROM inventory_names
WHERE generation = (SELECT max(generation) FROM inventory_generations)
  AND ((kind = 'identity' AND entity_id IN {identities:Array(String)}) OR (kind = 'resource' AND entity_id IN {resources:Array(String)}))

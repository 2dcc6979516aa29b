-- {"identities":["sa-1"],"resources":["r-1"]}
SELECT 'identity' AS kind, identity_id AS id, identity_name AS name, toString(identity_type) AS type, toString(team) AS team
FROM identities WHERE identity_id IN {identities:Array(String)}
UNION ALL
SELECT 'resource', resource_id, resource_name, toString(resource_type), ''
FROM resources WHERE resource_id IN {resources:Array(String)}

-- {"day":"2026-03-01","resource_id":"r-1","gaps":["in"],"metrics":["in","out"],"scopes":["owner"]}
SELECT 'gap' AS fact, toString(metric) AS source, toString(resource_id) AS of_resource, toUInt64(0) AS identities, reason
FROM usage_gaps WHERE day = {day:Date} AND metric IN {gaps:Array(String)} AND resource_id = {resource_id:String}
UNION ALL
SELECT 'usage' AS fact, toString(metric) AS source, toString(resource_id) AS of_resource, uniqExact(identity_id) AS identities, '' AS reason
FROM usage WHERE day = {day:Date} AND metric IN {metrics:Array(String)} AND resource_id = {resource_id:String} AND micro_units > 0
GROUP BY source, of_resource
UNION ALL
SELECT 'set' AS fact, toString(scope) AS source, toString(resource_id) AS of_resource, uniqExact(identity_id) AS identities, '' AS reason
FROM identity_sets WHERE day = {day:Date} AND scope IN {scopes:Array(String)} AND resource_id IN ({resource_id:String}, '')
GROUP BY source, of_resource

-- {"day":"2026-03-01","resource_id":"r-1","gaps":["in"]}
SELECT 'gap' AS fact, toString(metric) AS source, toString(resource_id) AS of_resource, toUInt64(0) AS identities, reason
FROM usage_gaps WHERE day = {day:Date} AND metric IN {gaps:Array(String)} AND resource_id = {resource_id:String}

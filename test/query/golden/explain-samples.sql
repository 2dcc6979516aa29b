-- {"day":"2026-03-01","metrics":["in","out"],"resource_id":"r-1","identity_id":"sa-1"}
SELECT toStartOfHour(usage.timestamp) AS timestamp, metric, toString(sum(micro_units)) AS micro_units
FROM usage
WHERE day = {day:Date} AND metric IN {metrics:Array(String)} AND resource_id = {resource_id:String} AND identity_id = {identity_id:String}
GROUP BY timestamp, metric
ORDER BY timestamp, metric

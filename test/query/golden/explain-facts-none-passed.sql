-- {"day":"2026-03-01","resource_id":"r-1"}
SELECT * FROM (
SELECT 'publication' AS fact, input_hash AS name, '' AS of_resource, toDateTime(0, 'UTC') AS at, toString(epoch) AS value
FROM published_days FINAL WHERE ledger = 'chargebacks' AND day = {day:Date} AND input_hash != ''
UNION ALL
SELECT 'owner', toString(identity_id), '', toDateTime(0, 'UTC'), '' FROM (
  SELECT DISTINCT identity_id FROM identity_sets WHERE day = {day:Date} AND scope = 'owner' AND resource_id = {resource_id:String}
  ORDER BY identity_id LIMIT 100
)
)
ORDER BY fact, at, name, of_resource

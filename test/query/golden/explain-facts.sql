-- {"day":"2026-03-01","resource_id":"r-1","gaps":["in"],"used":["in","out"],"scopes":["owner"],"metrics":["in","out"],"identity_id":"sa-1","split_day":"2026-03-01","split_timestamp":"2026-03-01 00:00:00","split_env_id":"","split_resource_id":"r-1","split_product_category":"KAFKA","split_product_type":"STORAGE","split_currency":"EUR","split_line_id":0,"split_component":0}
SELECT * FROM (
SELECT 'publication' AS fact, input_hash AS name, '' AS of_resource, toDateTime(0, 'UTC') AS at, toString(epoch) AS value
FROM published_days FINAL WHERE ledger = 'chargebacks' AND day = {day:Date} AND input_hash != ''
UNION ALL
SELECT 'owner', toString(identity_id), '', toDateTime(0, 'UTC'), '' FROM (
  SELECT DISTINCT identity_id FROM identity_sets WHERE day = {day:Date} AND scope = 'owner' AND resource_id = {resource_id:String}
  ORDER BY identity_id LIMIT 100
)
UNION ALL
SELECT 'gap', toString(metric), toString(resource_id), toDateTime(0, 'UTC'), reason
FROM usage_gaps WHERE day = {day:Date} AND metric IN {gaps:Array(String)} AND resource_id = {resource_id:String}
UNION ALL
SELECT 'usage', toString(metric), toString(resource_id), toDateTime(0, 'UTC'), toString(count()) FROM (
  SELECT metric, resource_id FROM usage
  WHERE day = {day:Date} AND metric IN {used:Array(String)} AND resource_id = {resource_id:String} AND NOT (toString(identity_id) IN ('idle'))
  GROUP BY metric, resource_id, identity_id HAVING sum(micro_units) > 0
)
GROUP BY metric, resource_id
UNION ALL
SELECT 'set', toString(scope), toString(resource_id), toDateTime(0, 'UTC'), toString(uniqExact(identity_id))
FROM identity_sets WHERE day = {day:Date} AND scope IN {scopes:Array(String)} AND resource_id IN ({resource_id:String}, '') AND NOT (toString(identity_id) IN ('idle'))
GROUP BY scope, resource_id
UNION ALL
SELECT 'sample', toString(metric), toString(max(scale)), toStartOfHour(timestamp) AS hour, toString(sum(micro_units))
FROM usage
WHERE day = {day:Date} AND metric IN {metrics:Array(String)} AND resource_id = {resource_id:String} AND identity_id = {identity_id:String}
GROUP BY hour, metric
UNION ALL
SELECT 'charged', '', '', toDateTime(0, 'UTC'), toString(digest) FROM (
SELECT sum(cityHash64(if(length(passed_path.step) > 0, toString(passed_path.identity_id[1]), toString(identity_id))) * toInt256(reinterpret(amount_hi + amount_lo, 'Int128'))) AS digest
FROM chargebacks WHERE day = {split_day:Date} AND timestamp = {split_timestamp:DateTime('UTC')} AND env_id = {split_env_id:String} AND resource_id = {split_resource_id:String} AND product_category = {split_product_category:String} AND product_type = {split_product_type:String} AND currency = {split_currency:String} AND line_id = {split_line_id:UInt64} AND component = {split_component:UInt8}
)
)
ORDER BY fact, at, name, of_resource

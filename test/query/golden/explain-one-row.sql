-- {"day":"2026-03-01","ecosystem":"generic_metrics_only","tenant_id":"acme","env_id":"","resource_id":"r-1","product_category":"KAFKA","product_type":"STORAGE","identity_id":"sa-1","cost_type":"usage","timestamp":"2026-03-01 00:00:00","component":1,"currency":"EUR"}
SELECT timestamp, component, currency, line_id, toString(amount_hi + amount_lo) AS amount, allocation_method, allocation_detail, component_ratio, tier,
  metric, rules_hash, decimal_places, rule, provisional, passed_path, toUInt64(if(empty(passed_path), 0, bitAnd(xxHash64(toString(passed_path)), 9007199254740991))) AS path_id, count() OVER () AS total
FROM chargebacks
WHERE day = {day:Date} AND ecosystem = {ecosystem:String} AND tenant_id = {tenant_id:String} AND env_id = {env_id:String} AND resource_id = {resource_id:String} AND product_category = {product_category:String} AND product_type = {product_type:String} AND identity_id = {identity_id:String} AND cost_type = {cost_type:String} AND timestamp = {timestamp:DateTime('UTC')} AND component = {component:UInt8} AND currency = {currency:String}
ORDER BY timestamp, component, currency, line_id, path_id
LIMIT 1000

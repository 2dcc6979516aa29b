-- {"day":"2026-03-01","timestamp":"2026-03-01 00:00:00","env_id":"","resource_id":"r-1","product_category":"KAFKA","product_type":"STORAGE","component":0}
SELECT '1' AS weight, toString(count()) AS total_weight
FROM chargebacks
WHERE day = {day:Date} AND resource_id = {resource_id:String} AND product_type = {product_type:String} AND env_id = {env_id:String}
  AND product_category = {product_category:String} AND timestamp = {timestamp:DateTime('UTC')} AND component = {component:UInt8}

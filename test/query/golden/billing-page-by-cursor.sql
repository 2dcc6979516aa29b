-- {"first_day":"2026-03-01","last_day":"2026-03-05","place_0":"r-1","place_1":"STORAGE","place_2":"env-1","place_3":"KAFKA","place_4":"2026-03-01 00:00:00","place_day":"2026-03-01","page_first":"2026-03-01","page_last":"2026-03-02","rows":103,"offset":7}
SELECT ecosystem, tenant_id, timestamp, resource_id, product_category, product_type, toString(b.quantity) AS quantity,
  toString(b.unit_price) AS unit_price, toString(b.total_cost) AS total_cost, currency, granularity, metadata,
  tuple(resource_id, product_type, env_id, product_category, toUnixTimestamp(timestamp)) AS order_values
FROM billing AS b
WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND day >= {page_first:Date} AND day <= {page_last:Date} AND day >= {place_day:Date} AND (day > {place_day:Date} OR (resource_id > {place_0:String} OR (resource_id = {place_0:String} AND (product_type > {place_1:String} OR (product_type = {place_1:String} AND (env_id > {place_2:String} OR (env_id = {place_2:String} AND (product_category > {place_3:String} OR (product_category = {place_3:String} AND (timestamp >= {place_4:DateTime('UTC')}))))))))))
ORDER BY day, resource_id, product_type, env_id, product_category, timestamp, b.total_cost, b.quantity, b.unit_price, b.currency, b.granularity, b.metadata
LIMIT {rows:UInt32} OFFSET {offset:UInt64}

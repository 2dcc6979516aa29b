-- {"first_day":"2026-03-01","last_day":"2026-03-05","product_type":"STORAGE","page_first":"2026-03-01","page_last":"2026-03-02","rows":100,"offset":7}
SELECT ecosystem, tenant_id, timestamp, resource_id, product_category, product_type, toString(b.quantity) AS quantity,
  toString(b.unit_price) AS unit_price, toString(b.total_cost) AS total_cost, currency, granularity, metadata,
  tuple(resource_id, product_type, env_id, product_category, toUnixTimestamp(timestamp)) AS order_values
FROM billing AS b
WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND product_type = {product_type:String} AND day >= {page_first:Date} AND day <= {page_last:Date}
ORDER BY day, resource_id, product_type, env_id, product_category, timestamp, b.total_cost, b.quantity, b.unit_price, b.currency, b.granularity, b.metadata
LIMIT {rows:UInt32} OFFSET {offset:UInt64}

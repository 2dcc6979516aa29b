-- {"first_day":"2026-03-01","last_day":"2026-03-02","product_type":["STORAGE"],"rows":100,"offset":7}
SELECT timestamp, ecosystem, tenant_id, resource_id, product_category, product_type, toString(b.quantity) AS quantity, toString(b.unit_price) AS unit_price, toString(b.total_cost) AS total_cost, currency, charge_category, service_provider, account_id, region_id, sku_id, line_tags, rule, toString(b.billed_cost) AS billed_cost, toString(b.effective_cost) AS effective_cost, toString(b.list_cost) AS list_cost, named_identity, granularity, metadata, env_id
FROM published_billing AS b
WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND product_type IN {product_type:Array(String)}
ORDER BY day, resource_id, product_type, env_id, product_category, timestamp, b.quantity, b.unit_price, b.total_cost, b.currency, b.line_id, b.granularity, b.metadata
LIMIT {rows:UInt32} OFFSET {offset:UInt64}

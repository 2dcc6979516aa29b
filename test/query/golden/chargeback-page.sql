-- {"first_day":"2026-03-01","last_day":"2026-03-02","rows":100,"offset":7}
SELECT timestamp, ecosystem, tenant_id, resource_id, product_category, product_type, currency, charge_category, service_provider, account_id, region_id, sku_id, line_tags, rule, identity_id, cost_type, allocation_method, allocation_detail, passed_from, provisional, day, env_id, line_id, component, component_ratio, tier, metric, passed_path, toUInt64(if(empty(passed_path), 0, bitAnd(xxHash64(toString(passed_path)), 9007199254740991))) AS path_id, toString(amount_hi + amount_lo) AS amount,
  toString(reinterpretAsUInt128(sipHash128(CAST(ecosystem AS String), CAST(tenant_id AS String), CAST(env_id AS String), CAST(resource_id AS String), CAST(product_category AS String), CAST(product_type AS String), CAST(identity_id AS String), CAST(cost_type AS String)))) AS fingerprint
FROM chargebacks
WHERE day >= {first_day:Date} AND day <= {last_day:Date}
ORDER BY day, resource_id, product_type, env_id, product_category, timestamp, component, identity_id, currency, line_id, cost_type, allocation_method, allocation_detail, component_ratio, tier, metric, passed_from, passed_path, provisional, amount_hi, amount_lo
LIMIT {rows:UInt32} OFFSET {offset:UInt64}

-- {"ecosystem":"generic_metrics_only","tenant_id":"acme","env_id":"","resource_id":"r-1","product_category":"KAFKA","product_type":"STORAGE","identity_id":"sa-1","cost_type":"usage"}
SELECT day, timestamp, env_id, resource_id, product_category, product_type, currency, line_id, component, identity_id, allocation_method, component_ratio, tier, metric, passed_path, charge_category, service_provider, account_id, region_id, sku_id, rule, line_tags, toString(amount_hi + amount_lo) AS amount, allocation_detail, passed_from, provisional,
  toUInt64(if(empty(passed_path), 0, bitAnd(xxHash64(toString(passed_path)), 9007199254740991))) AS path_id
FROM chargebacks
WHERE day = (SELECT max(day) FROM chargebacks) AND ecosystem = {ecosystem:String} AND tenant_id = {tenant_id:String} AND env_id = {env_id:String} AND resource_id = {resource_id:String} AND product_category = {product_category:String} AND product_type = {product_type:String} AND identity_id = {identity_id:String} AND cost_type = {cost_type:String}
ORDER BY day DESC, timestamp DESC, component, currency, line_id, path_id
LIMIT 1

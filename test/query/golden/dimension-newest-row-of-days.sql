-- {"ecosystem":"generic_metrics_only","tenant_id":"acme","env_id":"","resource_id":"r-1","product_category":"KAFKA","product_type":"STORAGE","identity_id":"sa-1","cost_type":"usage","first":"2026-03-01","last":"2026-03-02"}
SELECT day, timestamp, toString(amount_hi + amount_lo) AS amount, currency, allocation_method, allocation_detail,
  provisional, component, component_ratio, tier, metric
FROM chargebacks
WHERE day >= {first:Date} AND day <= {last:Date} AND ecosystem = {ecosystem:String} AND tenant_id = {tenant_id:String} AND env_id = {env_id:String} AND resource_id = {resource_id:String} AND product_category = {product_category:String} AND product_type = {product_type:String} AND identity_id = {identity_id:String} AND cost_type = {cost_type:String}
ORDER BY day DESC, timestamp DESC, component, currency
LIMIT 1

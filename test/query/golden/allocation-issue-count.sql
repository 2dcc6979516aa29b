-- {"first_day":"2026-03-01","last_day":"2026-03-05","identity_id":"sa-1","product_type":"STORAGE","resource_id":"r-1","cost_type":"usage","issue_details":["no_metrics_located","metrics_fetch_failed","no_usage_for_active_identities","no_active_identities_located","no_identities_located","owner_unknown","no_allocator_for_product_type","allocation_failed"]}
SELECT uniqExact(ecosystem, env_id, resource_id, product_type, identity_id, allocation_detail) AS groups
FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND allocation_detail IN {issue_details:Array(String)} AND identity_id = {identity_id:String} AND product_type = {product_type:String} AND resource_id = {resource_id:String} AND cost_type = {cost_type:String}

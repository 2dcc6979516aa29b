-- {"first_day":"2026-03-01","last_day":"2026-03-05","cause":[{"values":["owner_unknown","a,b",""]}],"not_cause":[{"values":["no_identity_on_line","STORAGE","storage"]}],"issue_details":["no_metrics_located","metrics_fetch_failed","no_usage_for_active_identities","no_active_identities_located","no_identities_located","owner_unknown","no_identity_on_line","no_allocator_for_product_type","allocation_failed"],"page_size":100,"offset":0}
SELECT ecosystem, env_id, resource_id, product_type, identity_id, allocation_detail, currency, row_count, toString(usage) AS usage_cost, toString(shared) AS shared_cost,
  toString(total) AS total_cost, groups
FROM (
  SELECT *, count() OVER () AS groups
  FROM (
    SELECT ecosystem, env_id, resource_id, product_type, identity_id, allocation_detail, currency, count() AS row_count, sum(amount_hi) + sum(amount_lo) AS total,
      sumIf(amount_hi, cost_type = 'usage') + sumIf(amount_lo, cost_type = 'usage') AS usage,
      sumIf(amount_hi, cost_type = 'shared') + sumIf(amount_lo, cost_type = 'shared') AS shared
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND allocation_detail IN {issue_details:Array(String)} AND (allocation_detail, product_type, rule) IN {cause:Array(Tuple(String, String, String))} AND (allocation_detail, product_type, rule) NOT IN {not_cause:Array(Tuple(String, String, String))}
    GROUP BY ecosystem, env_id, resource_id, product_type, identity_id, allocation_detail, currency
  )
)
ORDER BY total DESC, ecosystem, env_id, resource_id, product_type, identity_id, allocation_detail, currency
LIMIT {page_size:UInt32} OFFSET {offset:UInt64}

-- {"first_day":"2026-03-01","last_day":"2026-03-05","resource_id":["r-1"],"not_cause":[{"values":["no_identity_on_line","STORAGE",""]}],"issue_details":["no_metrics_located","metrics_fetch_failed","no_usage_for_active_identities","no_active_identities_located","no_identities_located","owner_unknown","no_identity_on_line","no_allocator_for_product_type","allocation_failed"],"page_size":100,"offset":0}
SELECT *, toUInt64(count() OVER ()) AS groups
FROM (
  SELECT currency, product_type, account_id, environment_id, rule, allocation_detail, named_identity, found, count() AS line_count, uniqExact(resource) AS resource_count, argMax(resource, (abs(cost), resource)) AS example_resource_id,
    toString(argMax(of_day, (abs(cost), resource, of_day))) AS example_date, toString(sum(cost)) AS amount
  FROM (
    SELECT toString(currency) AS currency, toString(product_type) AS product_type, toString(account) AS account_id, toString(env_id) AS environment_id,
      toString(of_rule) AS rule, toString(allocation_detail) AS allocation_detail, toString(named) AS named_identity, found,
      toString(resource_id) AS resource, toDate(timestamp, 'UTC') AS of_day, cost
    FROM (
      SELECT timestamp, env_id, resource_id, product_category, product_type, currency, line_id, allocation_detail, any(account_id) AS account, any(chargebacks.rule) AS of_rule, sum(amount_hi) + sum(amount_lo) AS cost
      FROM chargebacks WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND resource_id IN {resource_id:Array(String)} AND (allocation_detail, product_type, rule) NOT IN {not_cause:Array(Tuple(String, String, String))} AND identity_id = 'UNALLOCATED' AND allocation_detail IN {issue_details:Array(String)}
      GROUP BY timestamp, env_id, resource_id, product_category, product_type, currency, line_id, allocation_detail
      HAVING cost != 0
    ) AS unpaid
    LEFT ANY JOIN (
      SELECT timestamp, env_id, resource_id, product_category, product_type, currency, line_id, named_identity AS named, CAST([], 'Array(Tuple(Bool, String, String))') AS found
      FROM published_billing
      WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND (day, resource_id) IN (SELECT day, resource_id FROM chargebacks WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND resource_id IN {resource_id:Array(String)} AND (allocation_detail, product_type, rule) NOT IN {not_cause:Array(Tuple(String, String, String))} AND identity_id = 'UNALLOCATED' AND allocation_detail IN {issue_details:Array(String)})
    ) AS line USING (timestamp, env_id, resource_id, product_category, product_type, currency, line_id)
  )
  GROUP BY currency, product_type, account_id, environment_id, rule, allocation_detail, named_identity, found
)
ORDER BY abs(toDecimal128(amount, 12)) DESC, currency, product_type, account_id, environment_id, rule, allocation_detail, named_identity, found
LIMIT {page_size:UInt32} OFFSET {offset:UInt64}

-- {"first_day":"2026-03-01","last_day":"2026-03-05","identity_id":["sa-1"],"not_identity_id":["sa-2","sa-3"],"resource_id":["r-1"],"product_type":["STORAGE"],"currency":["EUR"],"cost_type":["usage"],"timezone":"UTC","bucket_limit":10000,"row_limit":27576}
WITH
  (
    SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities WHERE identity_id IN {identity_id:Array(String)}
  ) AS known_identities,
  (
    SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources WHERE resource_id IN {resource_id:Array(String)}
  ) AS known_resources,
  buckets AS (
  SELECT bucket, c0, c1, c2, c3,
    sum(hi) + sum(lo) AS total,
    sumIf(hi, cost_type = 'usage') + sumIf(lo, cost_type = 'usage') AS usage,
    sumIf(hi, cost_type = 'shared') + sumIf(lo, cost_type = 'shared') AS shared,
    sum(n) AS row_count, max(of_provisional) AS is_provisional
  FROM (
    SELECT toDate(timestamp, {timezone:String}) AS bucket, identity_id AS c0, resource_id AS c1, product_type AS c2, currency AS c3, cost_type, toUInt8(provisional) AS of_provisional, amount_hi AS hi, amount_lo AS lo, 1 AS n
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND identity_id IN {identity_id:Array(String)} AND identity_id NOT IN {not_identity_id:Array(String)} AND resource_id IN {resource_id:Array(String)} AND product_type IN {product_type:Array(String)} AND currency IN {currency:Array(String)} AND cost_type IN {cost_type:Array(String)}
  )
  GROUP BY bucket, c0, c1, c2, c3
)
SELECT toString(bucket) AS label, c3 AS currency, toString(total), toString(usage), toString(shared), row_count, is_provisional, if(nth = 1, [toString(currency), toString(all_total), toString(all_usage), toString(all_shared), toString(all_rows), toString(all_buckets)], []), c0, c1, c2, transform(c0, known_identities.1, known_identities.2, ''), transform(c1, known_resources.1, known_resources.2, '')
FROM (
  SELECT *, sum(total) OVER w AS all_total, sum(usage) OVER w AS all_usage, sum(shared) OVER w AS all_shared,
    sum(row_count) OVER w AS all_rows, count() OVER w AS all_buckets, row_number() OVER w AS nth
  FROM buckets
  WINDOW w AS (PARTITION BY c3 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
  ORDER BY nth = 1 DESC, bucket, c0, c1, c2, c3
  LIMIT {row_limit:UInt32}
)
QUALIFY row_number() OVER (ORDER BY bucket, c0, c1, c2, c3) <= {bucket_limit:UInt32} OR nth = 1
ORDER BY bucket, c0, c1, c2, c3

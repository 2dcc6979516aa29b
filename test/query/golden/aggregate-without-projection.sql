-- {"first_day":"2026-03-01","last_day":"2026-03-05","identity_id":"sa-1","product_type":"STORAGE","resource_id":"r-1","cost_type":"usage","timezone":"UTC","bucket_limit":10000}
WITH
  (
    SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities
  ) AS known_identities,
  (
    SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources
  ) AS known_resources,
  buckets AS (
  SELECT toDate(timestamp, {timezone:String}) AS bucket, identity_id AS c0, resource_id AS c1, product_type AS c2,
    sum(amount_hi) + sum(amount_lo) AS total,
    sumIf(amount_hi, cost_type = 'usage') + sumIf(amount_lo, cost_type = 'usage') AS usage,
    sumIf(amount_hi, cost_type = 'shared') + sumIf(amount_lo, cost_type = 'shared') AS shared,
    count() AS row_count, toUInt8(max(provisional)) AS is_provisional
  FROM chargebacks
  WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND identity_id = {identity_id:String} AND product_type = {product_type:String} AND resource_id = {resource_id:String} AND cost_type = {cost_type:String}
  GROUP BY bucket, c0, c1, c2
)
SELECT toString(bucket) AS label, toString(total), toString(usage), toString(shared), row_count, is_provisional,
  if(row_number() OVER (ORDER BY bucket, c0, c1, c2) = 1,
    [toString(all_total), toString(all_usage), toString(all_shared), toString(all_rows), toString(all_buckets)], []) AS totals_once, c0, c1, c2, transform(c0, known_identities.1, known_identities.2, ''), transform(c1, known_resources.1, known_resources.2, '')
FROM (
  SELECT *, sum(total) OVER () AS all_total, sum(usage) OVER () AS all_usage, sum(shared) OVER () AS all_shared,
    sum(row_count) OVER () AS all_rows, count() OVER () AS all_buckets
  FROM buckets
  ORDER BY bucket, c0, c1, c2
  LIMIT {bucket_limit:UInt32}
)
ORDER BY bucket, c0, c1, c2

-- {"first_day":"2026-03-01","last_day":"2026-03-05","identity_id":"sa-1","product_type":"STORAGE","resource_id":"r-1","cost_type":"usage","from":"2026-03-01 00:00:00","to":"2026-03-06 00:00:00","timezone":"UTC","bucket_limit":10000}
WITH
  (SELECT groupArray(value) FROM (SELECT identity_id AS value FROM chargebacks WHERE timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY value)) AS values_0,
  (SELECT groupArray(value) FROM (SELECT product_type AS value FROM chargebacks WHERE timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY value)) AS values_1,
  (SELECT groupArray(value) FROM (SELECT cost_type AS value FROM chargebacks WHERE timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY value)) AS values_2
SELECT toUnixTimestamp(last), toString(total_so_far), toString(usage_so_far), toString(shared_so_far), toString(rows_so_far),
  toString(buckets_so_far), unsteady_so_far > 0
FROM (
  SELECT bucket, last, max(bucket) OVER () AS last_bucket, buckets,
    sum(total) OVER w AS total_so_far, sum(usage) OVER w AS usage_so_far, sum(shared) OVER w AS shared_so_far,
    sum(n) OVER w AS rows_so_far, sum(buckets) OVER w AS buckets_so_far, sum(unsteady) OVER w AS unsteady_so_far
  FROM (
      SELECT toStartOfMonth(timestamp, {timezone:String}) AS bucket, max(timestamp) AS last, sum(amount_hi) + sum(amount_lo) AS total,
        sumIf(amount_hi, cost_type = 'usage') + sumIf(amount_lo, cost_type = 'usage') AS usage,
        sumIf(amount_hi, cost_type = 'shared') + sumIf(amount_lo, cost_type = 'shared') AS shared, count() AS n,
        groupBitmapState(toUInt64(((transform(identity_id, values_0, range(length(values_0)), intDiv(1152921504606846976 * 2, toUInt64(1) * greatest(length(values_1), 1) * greatest(length(values_2), 1)))) * length(values_1) + transform(product_type, values_1, range(length(values_1)), intDiv(1152921504606846976 * 2, toUInt64(1) * greatest(length(values_2), 1)))) * length(values_2) + transform(cost_type, values_2, range(length(values_2)), intDiv(1152921504606846976 * 2, toUInt64(1))))) AS found, bitmapCardinality(found) AS buckets,
        bitmapMax(found) >= 1152921504606846976 OR toFloat64(length(values_0)) * toFloat64(length(values_1)) * toFloat64(length(values_2)) > 1152921504606846976 AS unsteady
      FROM chargebacks
      WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND identity_id = {identity_id:String} AND product_type = {product_type:String} AND resource_id = {resource_id:String} AND cost_type = {cost_type:String}
      GROUP BY bucket)
  WINDOW w AS (ORDER BY bucket)
)
WHERE bucket = last_bucket OR (buckets_so_far >= {bucket_limit:UInt32} AND buckets_so_far - buckets < {bucket_limit:UInt32})
ORDER BY bucket

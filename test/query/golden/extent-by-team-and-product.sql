-- {"first_day":"2026-03-01","last_day":"2026-03-05","from":"2026-03-01 00:00:00","to":"2026-03-06 00:00:00","timezone":"UTC","bucket_limit":10000}
WITH
  (SELECT arraySort(arrayDistinct(arrayPushBack(groupUniqArray(toString(team)), 'UNASSIGNED'))) FROM identities) AS team_names,
  (
    SELECT (groupArray(identity_id), groupArray(toUInt32(transform(toString(team), team_names, range(1, length(team_names) + 1), 0))))
    FROM identities
  ) AS team_places,
  (SELECT groupArray(value) FROM (SELECT product_type AS value FROM chargebacks WHERE timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY value)) AS values_1
SELECT toUnixTimestamp(last), toString(total_so_far), toString(usage_so_far), toString(shared_so_far), toString(rows_so_far),
  toString(buckets_so_far), unsteady_so_far > 0
FROM (
  SELECT bucket, last, max(bucket) OVER () AS last_bucket, buckets,
    sum(total) OVER w AS total_so_far, sum(usage) OVER w AS usage_so_far, sum(shared) OVER w AS shared_so_far,
    sum(n) OVER w AS rows_so_far, sum(buckets) OVER w AS buckets_so_far, sum(unsteady) OVER w AS unsteady_so_far
  FROM (
      SELECT toDate(timestamp, {timezone:String}) AS bucket, max(timestamp) AS last, sum(amount_hi) + sum(amount_lo) AS total,
        sumIf(amount_hi, cost_type = 'usage') + sumIf(amount_lo, cost_type = 'usage') AS usage,
        sumIf(amount_hi, cost_type = 'shared') + sumIf(amount_lo, cost_type = 'shared') AS shared, count() AS n,
        groupBitmapState(toUInt64((toUInt64(transform(identity_id, team_places.1, team_places.2, toUInt32(indexOf(team_names, 'UNASSIGNED'))) - 1)) * length(values_1) + transform(product_type, values_1, range(length(values_1)), intDiv(1152921504606846976 * 2, toUInt64(1))))) AS found, bitmapCardinality(found) AS buckets,
        bitmapMax(found) >= 1152921504606846976 OR toFloat64(length(team_names)) * toFloat64(length(values_1)) > 1152921504606846976 AS unsteady
      FROM chargebacks
      WHERE day >= {first_day:Date} AND day <= {last_day:Date}
      GROUP BY bucket)
  WINDOW w AS (ORDER BY bucket)
)
WHERE bucket = last_bucket OR (buckets_so_far >= {bucket_limit:UInt32} AND buckets_so_far - buckets < {bucket_limit:UInt32})
ORDER BY bucket

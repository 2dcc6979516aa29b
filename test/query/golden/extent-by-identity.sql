-- {"from":"2026-03-01 00:00:00","to":"2026-03-06 00:00:00","timezone":"UTC","bucket_limit":10000}
SELECT toUnixTimestamp(last), toString(total_so_far), toString(usage_so_far), toString(shared_so_far), toString(rows_so_far),
  toString(buckets_so_far), unsteady_so_far > 0
FROM (
  SELECT bucket, last, max(bucket) OVER () AS last_bucket, buckets,
    sum(total) OVER w AS total_so_far, sum(usage) OVER w AS usage_so_far, sum(shared) OVER w AS shared_so_far,
    sum(n) OVER w AS rows_so_far, sum(buckets) OVER w AS buckets_so_far, sum(unsteady) OVER w AS unsteady_so_far
  FROM (
    SELECT s.bucket AS bucket, s.last AS last, s.total AS total, s.usage AS usage, s.shared AS shared, s.n AS n,
      c.buckets AS buckets, s.n != c.n AS unsteady
    FROM (
      SELECT toDate(timestamp, {timezone:String}) AS bucket, max(timestamp) AS last, sum(hi) + sum(lo) AS total,
        sumIf(hi, cost_type = 'usage') + sumIf(lo, cost_type = 'usage') AS usage,
        sumIf(hi, cost_type = 'shared') + sumIf(lo, cost_type = 'shared') AS shared, sum(rows_of) AS n
      FROM (
        SELECT timestamp, cost_type, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS rows_of
        FROM chargebacks WHERE timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY timestamp, cost_type
      )
      GROUP BY bucket
    ) AS s
    FULL JOIN (
      SELECT bucket, count() AS buckets, sum(rows_of) AS n
      FROM (
        SELECT toDate(timestamp, {timezone:String}) AS bucket, identity_id AS c0, sum(rows_of_instant) AS rows_of
        FROM (SELECT timestamp, identity_id, count() AS rows_of_instant FROM chargebacks WHERE timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY timestamp, identity_id)
        GROUP BY bucket, c0
      )
      GROUP BY bucket
    ) AS c ON s.bucket = c.bucket)
  WINDOW w AS (ORDER BY bucket)
)
WHERE bucket = last_bucket OR (buckets_so_far >= {bucket_limit:UInt32} AND buckets_so_far - buckets < {bucket_limit:UInt32})
ORDER BY bucket

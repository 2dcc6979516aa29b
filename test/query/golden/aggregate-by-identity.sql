-- {"from":"2026-03-01 00:00:00","to":"2026-03-06 00:00:00","timezone":"UTC","bucket_limit":10000}
WITH
  (
    SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities
  ) AS known_identities,
  buckets AS (
  SELECT toDate(timestamp, {timezone:String}) AS bucket, identity_id AS c0,
    sum(hi) + sum(lo) AS total,
    sumIf(hi, cost_type = 'usage') + sumIf(lo, cost_type = 'usage') AS usage,
    sumIf(hi, cost_type = 'shared') + sumIf(lo, cost_type = 'shared') AS shared,
    sum(n) AS row_count, max(toDate(timestamp, 'UTC') IN (SELECT day FROM chargebacks WHERE provisional)) AS is_provisional
  FROM (
    SELECT timestamp, identity_id, cost_type, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n
    FROM chargebacks
    WHERE timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')}
    GROUP BY timestamp, identity_id, cost_type
  )
  GROUP BY bucket, c0
)
SELECT toString(bucket) AS label, toString(total), toString(usage), toString(shared), row_count, is_provisional,
  if(row_number() OVER (ORDER BY bucket, c0) = 1,
    [toString(all_total), toString(all_usage), toString(all_shared), toString(all_rows), toString(all_buckets)], []) AS totals_once, c0, transform(c0, known_identities.1, known_identities.2, '')
FROM (
  SELECT *, sum(total) OVER () AS all_total, sum(usage) OVER () AS all_usage, sum(shared) OVER () AS all_shared,
    sum(row_count) OVER () AS all_rows, count() OVER () AS all_buckets
  FROM buckets
  ORDER BY bucket, c0
  LIMIT {bucket_limit:UInt32}
)
ORDER BY bucket, c0

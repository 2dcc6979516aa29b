-- {"first_day":"2026-03-01","last_day":"2026-03-05","identity_id":["sa-1"],"timezone":"UTC"}
WITH
  (
    SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities WHERE identity_id IN {identity_id:Array(String)}
  ) AS known_identities,
  buckets AS (
  SELECT bucket, c0, c1,
    sum(hi) + sum(lo) AS total,
    sumIf(hi, cost_type = 'usage') + sumIf(lo, cost_type = 'usage') AS usage,
    sumIf(hi, cost_type = 'shared') + sumIf(lo, cost_type = 'shared') AS shared,
    sum(n) AS row_count, max(of_provisional) AS is_provisional
  FROM (
    SELECT toDate(timestamp, {timezone:String}) AS bucket, identity_id AS c0, currency AS c1, cost_type, toUInt8(provisional) AS of_provisional, amount_hi AS hi, amount_lo AS lo, row_count AS n
    FROM published_sums_by_identity
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND identity_id IN {identity_id:Array(String)}
  )
  GROUP BY bucket, c0, c1
)
SELECT toString(bucket) AS label, c1 AS currency, toString(total), toString(usage), toString(shared), row_count, is_provisional, [], c0, transform(c0, known_identities.1, known_identities.2, '')
FROM buckets
ORDER BY bucket, c0, c1

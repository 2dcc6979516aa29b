-- {"first_day":"2026-03-01","last_day":"2026-03-05","from":"2026-03-01 00:00:00","to":"2026-03-06 00:00:00","timezone":"UTC"}
SELECT CAST(bucket AS Int64), toUnixTimestamp(last), toString(currency),
  toString(total), toString(usage), toString(shared), n, buckets, toUInt8(unsteady)
FROM (
    SELECT s.bucket AS bucket, s.currency AS currency, s.last AS last, s.total AS total, s.usage AS usage, s.shared AS shared, s.n AS n,
      c.buckets AS buckets, s.n != c.n OR c.unsteady AS unsteady
    FROM (
      SELECT toDate(timestamp, {timezone:String}) AS bucket, currency, max(timestamp) AS last, sum(hi) + sum(lo) AS total,
        sumIf(hi, cost_type = 'usage') + sumIf(lo, cost_type = 'usage') AS usage,
        sumIf(hi, cost_type = 'shared') + sumIf(lo, cost_type = 'shared') AS shared, sum(n) AS n
      FROM (
    SELECT timestamp, cost_type, currency, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n
    FROM chargebacks
    WHERE indexHint(day >= {first_day:Date} AND day <= {last_day:Date}) AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')}
    GROUP BY timestamp, cost_type, currency
  )
      GROUP BY bucket, currency
    ) AS s
    FULL JOIN (
      SELECT bucket, currency, count() AS buckets, sum(n) AS n, 0 AS unsteady
      FROM (
    SELECT toDate(timestamp, {timezone:String}) AS bucket, currency, identity_id AS c0, count() AS n
    FROM chargebacks
    WHERE indexHint(day >= {first_day:Date} AND day <= {last_day:Date}) AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')}
    GROUP BY bucket, currency, c0
  )
      GROUP BY bucket, currency
    ) AS c ON s.bucket = c.bucket AND s.currency = c.currency)
ORDER BY bucket, currency

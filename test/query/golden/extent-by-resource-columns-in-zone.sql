-- {"first_day":"2026-02-28","last_day":"2026-03-05","from":"2026-02-28 23:00:00","to":"2026-03-05 23:00:00","timezone":"Europe/Berlin"}
SELECT CAST(bucket AS Int64), toUnixTimestamp(last), toString(currency),
  toString(total), toString(usage), toString(shared), n, buckets, toUInt8(changed_meanwhile)
FROM (
    SELECT s.bucket AS bucket, s.currency AS currency, s.last AS last, s.total AS total, s.usage AS usage, s.shared AS shared, s.n AS n,
      c.buckets AS buckets, s.n != c.n OR c.changed_meanwhile AS changed_meanwhile
    FROM (
      SELECT multiIf(toMinute((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String}) = 0, (timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))),
    toHour((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String}) = toHour(timestamp, {timezone:String}), (timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))) - toIntervalMinute(toMinute((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String})),
    (timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))) + toIntervalMinute(60 - toMinute((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String}))) AS bucket, currency, max(timestamp) AS last, sum(hi) + sum(lo) AS total,
        sumIf(hi, cost_type = 'usage') + sumIf(lo, cost_type = 'usage') AS usage,
        sumIf(hi, cost_type = 'shared') + sumIf(lo, cost_type = 'shared') AS shared, sum(n) AS n
      FROM (
    SELECT timestamp, cost_type, currency, amount_hi AS hi, amount_lo AS lo, row_count AS n
    FROM published_sums_by_reason
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')}
  )
      GROUP BY bucket, currency
    ) AS s
    FULL JOIN (
      SELECT bucket, currency, count() AS buckets, sum(n) AS n, 0 AS changed_meanwhile
      FROM (
    SELECT multiIf(toMinute((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String}) = 0, (timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))),
    toHour((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String}) = toHour(timestamp, {timezone:String}), (timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))) - toIntervalMinute(toMinute((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String})),
    (timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))) + toIntervalMinute(60 - toMinute((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String}))) AS bucket, currency, resource_id AS c0, product_type AS c1, cost_type AS c2, sum(row_count) AS n
    FROM published_sums_by_resource
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')}
    GROUP BY bucket, currency, c0, c1, c2
  )
      GROUP BY bucket, currency
    ) AS c ON s.bucket = c.bucket AND s.currency = c.currency)
ORDER BY bucket, currency

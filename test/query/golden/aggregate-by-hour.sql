-- {"first_day":"2026-03-01","last_day":"2026-03-05","timezone":"UTC","bucket_limit":10000,"row_limit":27576}
WITH
  (
    SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities
  ) AS known_identities,
  buckets AS (
  SELECT bucket, c0, c1,
    sum(hi) + sum(lo) AS total,
    sumIf(hi, cost_type = 'usage') + sumIf(lo, cost_type = 'usage') AS usage,
    sumIf(hi, cost_type = 'shared') + sumIf(lo, cost_type = 'shared') AS shared,
    sum(n) AS row_count, max(of_provisional) AS is_provisional
  FROM (
    SELECT multiIf(toMinute((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String}) = 0, (timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))),
    toHour((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String}) = toHour(timestamp, {timezone:String}), (timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))) - toIntervalMinute(toMinute((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String})),
    (timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))) + toIntervalMinute(60 - toMinute((timestamp - toIntervalSecond(60 * toMinute(timestamp, {timezone:String}) + toSecond(timestamp, {timezone:String}))), {timezone:String}))) AS bucket, identity_id AS c0, currency AS c1, cost_type, toUInt8(provisional) AS of_provisional, amount_hi AS hi, amount_lo AS lo, row_count AS n
    FROM published_sums_by_identity
    WHERE day >= {first_day:Date} AND day <= {last_day:Date}
  )
  GROUP BY bucket, c0, c1
)
SELECT formatDateTime(bucket, '%Y-%m-%dT%H:%i:%SZ', {timezone:String}) AS label, c1 AS currency, toString(total), toString(usage), toString(shared), row_count, is_provisional, if(nth = 1, [toString(currency), toString(all_total), toString(all_usage), toString(all_shared), toString(all_rows), toString(all_buckets)], []), c0, transform(c0, known_identities.1, known_identities.2, '')
FROM (
  SELECT *, sum(total) OVER w AS all_total, sum(usage) OVER w AS all_usage, sum(shared) OVER w AS all_shared,
    sum(row_count) OVER w AS all_rows, count() OVER w AS all_buckets, row_number() OVER w AS nth
  FROM buckets
  WINDOW w AS (PARTITION BY c1 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
  ORDER BY nth = 1 DESC, bucket, c0, c1
  LIMIT {row_limit:UInt32}
)
QUALIFY row_number() OVER (ORDER BY bucket, c0, c1) <= {bucket_limit:UInt32} OR nth = 1
ORDER BY bucket, c0, c1

-- {"first_day":"2026-03-01","last_day":"2026-03-06","from":"2026-03-01 07:00:00","to":"2026-03-06 07:00:00"}
SELECT toDate(timestamp, 'UTC') AS day, sum(rows_of_instant) AS rows
FROM (SELECT timestamp, count() AS rows_of_instant FROM chargebacks WHERE indexHint(day >= {first_day:Date} AND day <= {last_day:Date}) AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY timestamp)
GROUP BY day
ORDER BY day

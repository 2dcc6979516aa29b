-- {"first_day":"2026-03-01","last_day":"2026-03-05","from":"2026-03-01 00:00:00","to":"2026-03-06 00:00:00","identity_id":["sa-1"]}
SELECT toDate(timestamp, 'UTC') AS day, sum(rows_of_instant) AS rows
FROM (SELECT timestamp, count() AS rows_of_instant FROM chargebacks WHERE indexHint(day >= {first_day:Date} AND day <= {last_day:Date}) AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} AND identity_id IN {identity_id:Array(String)} GROUP BY timestamp)
GROUP BY day
ORDER BY day

-- {"first_day":"2026-03-01","last_day":"2026-03-05","identity_id":["sa-1"]}
SELECT day, sum(row_count) AS rows FROM published_sums_by_identity WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND identity_id IN {identity_id:Array(String)} GROUP BY day ORDER BY day

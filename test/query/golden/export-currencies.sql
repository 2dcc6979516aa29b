-- {"first_day":"2026-03-01","last_day":"2026-03-05"}
SELECT DISTINCT currency FROM chargebacks WHERE day >= {first_day:Date} AND day <= {last_day:Date} LIMIT 2

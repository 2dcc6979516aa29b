-- {"first_day":"2026-03-01","last_day":"2026-03-05"}
SELECT DISTINCT day FROM chargebacks WHERE provisional AND day >= {first_day:Date} AND day <= {last_day:Date}

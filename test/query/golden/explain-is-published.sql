-- {"day":"2026-03-01"}
SELECT 1 FROM chargebacks WHERE day = {day:Date} LIMIT 1

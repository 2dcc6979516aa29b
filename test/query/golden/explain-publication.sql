-- {"day":"2026-03-01"}
SELECT epoch, input_hash FROM published_days FINAL WHERE book = 'chargebacks' AND day = {day:Date} AND input_hash != ''

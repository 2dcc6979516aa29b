-- {"first_day":"2026-03-01","last_day":"2026-03-05"}
SELECT toJSONString(groupArray(CAST((c0, c1, toString(amount)), 'Tuple(id String, currency String, amount String)')))
FROM (
  SELECT c0, c1, sum(hi) + sum(lo) AS amount
  FROM (
    SELECT identity_id AS c0, currency AS c1, amount_hi AS hi, amount_lo AS lo, row_count AS n
    FROM published_sums_by_identity
    WHERE day >= {first_day:Date} AND day <= {last_day:Date}
  )
  GROUP BY c0, c1 HAVING amount != 0
)

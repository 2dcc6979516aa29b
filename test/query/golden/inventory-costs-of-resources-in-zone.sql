-- {"first_day":"2026-02-28","last_day":"2026-03-05","from":"2026-02-28 23:00:00","to":"2026-03-05 23:00:00"}
SELECT toJSONString(groupArray(CAST((c0, c1, toString(amount)), 'Tuple(id String, currency String, amount String)')))
FROM (
  SELECT c0, c1, sum(hi) + sum(lo) AS amount
  FROM (
    SELECT resource_id AS c0, currency AS c1, amount_hi AS hi, amount_lo AS lo, row_count AS n
    FROM published_sums_by_resource
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')}
  )
  GROUP BY c0, c1 HAVING amount != 0
)

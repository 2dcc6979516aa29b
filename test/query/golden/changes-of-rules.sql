-- {"before":"2026-01-29","start":"2026-03-01","end":"2026-03-05"}
SELECT toString(day) AS changed_on FROM (
  SELECT day, rules, lagInFrame(rules, 1, rules) OVER (ORDER BY day ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS rules_before
  FROM (
    SELECT day, max(toString(rules_hash)) AS rules FROM chargebacks
    WHERE day >= {before:Date} AND day <= {end:Date} AND _part_offset = 0 GROUP BY day HAVING rules != ''
  )
)
WHERE rules != rules_before AND day >= {start:Date}
ORDER BY day

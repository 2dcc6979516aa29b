-- {"first_day":"2026-03-01","last_day":"2026-03-05"}
WITH
  (
    SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities
  ) AS known_identities
SELECT toString(c0), toString(transform(c0, known_identities.1, known_identities.2, '')), toString(c1), toString(sum(hi) + sum(lo))
FROM (
    SELECT identity_id AS c0, currency AS c1, amount_hi AS hi, amount_lo AS lo, row_count AS n
    FROM published_sums_by_identity
    WHERE day >= {first_day:Date} AND day <= {last_day:Date}
  )
GROUP BY c0, c1
ORDER BY c0, c1

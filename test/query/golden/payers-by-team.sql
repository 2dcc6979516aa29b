-- {"first_day":"2026-03-01","last_day":"2026-03-05"}
WITH
  (SELECT arraySort(arrayDistinct(arrayPushBack(groupUniqArray(toString(team)), 'UNASSIGNED'))) FROM identities) AS team_names,
  (
    SELECT (groupArray(identity_id), groupArray(toUInt32(transform(toString(team), team_names, range(1, length(team_names) + 1), 0))))
    FROM identities
  ) AS team_positions
SELECT toString(team_names[c0]), toString(''), toString(c1), toString(sum(hi) + sum(lo))
FROM (
    SELECT transform(identity_id, team_positions.1, team_positions.2, toUInt32(indexOf(team_names, 'UNASSIGNED'))) AS c0, currency AS c1, amount_hi AS hi, amount_lo AS lo, row_count AS n
    FROM published_sums_by_identity
    WHERE day >= {first_day:Date} AND day <= {last_day:Date}
  )
GROUP BY c0, c1
ORDER BY c0, c1

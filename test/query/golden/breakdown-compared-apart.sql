-- {"first_day":"2026-02-19","last_day":"2026-03-05","now_from":"2026-03-01 00:00:00","gap_from":"2026-02-21 00:00:00","gap_to":"2026-03-01 00:00:00","groups_limit":10}
WITH
  (
    SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities
  ) AS known_identities
SELECT toString(c1), [toString(total), toString(usage), toString(shared), toString(rows), toString(previous), toString(own), toString(shared_among), toString(unallocated)], is_provisional,
  [toString(all_groups), toString(all_total), toString(all_usage), toString(all_shared), toString(all_rows), toString(all_previous), toString(all_own), toString(all_shared_among), toString(all_unallocated)],
  [toString(all_groups - countIf(rank <= {groups_limit:UInt32}) OVER shown), toString(all_total - sumIf(total, rank <= {groups_limit:UInt32}) OVER shown), toString(all_usage - sumIf(usage, rank <= {groups_limit:UInt32}) OVER shown), toString(all_shared - sumIf(shared, rank <= {groups_limit:UInt32}) OVER shown), toString(all_rows - sumIf(rows, rank <= {groups_limit:UInt32}) OVER shown), toString(all_previous - sumIf(previous, rank <= {groups_limit:UInt32}) OVER shown), toString(all_own - sumIf(own, rank <= {groups_limit:UInt32}) OVER shown), toString(all_shared_among - sumIf(shared_among, rank <= {groups_limit:UInt32}) OVER shown), toString(all_unallocated - sumIf(unallocated, rank <= {groups_limit:UInt32}) OVER shown)], rank, mover, c0, transform(c0, known_identities.1, known_identities.2, '')
FROM (
  SELECT *, toString(c0) = 'UNALLOCATED' AS is_nobody, row_number() OVER (PARTITION BY c1, is_nobody ORDER BY abs(total) DESC, c0, c1) AS rank, toUInt64(0) AS mover,
    sum(total) OVER of_currency AS all_total, sum(usage) OVER of_currency AS all_usage, sum(shared) OVER of_currency AS all_shared, sum(rows) OVER of_currency AS all_rows, sum(previous) OVER of_currency AS all_previous, sum(own) OVER of_currency AS all_own, sum(shared_among) OVER of_currency AS all_shared_among, sum(unallocated) OVER of_currency AS all_unallocated, count() OVER of_currency AS all_groups
  FROM (
    SELECT c0, c1, sumIf(hi, is_now) + sumIf(lo, is_now) AS total, sumIf(hi, is_now AND cost_type = 'usage') + sumIf(lo, is_now AND cost_type = 'usage') AS usage,
      sumIf(hi, is_now AND cost_type = 'shared') + sumIf(lo, is_now AND cost_type = 'shared') AS shared, sumIf(n, is_now) AS rows, sumIf(hi, NOT is_now) + sumIf(lo, NOT is_now) AS previous,
      sumIf(hi, is_now AND cost_type = 'usage' AND NOT of_nobody) + sumIf(lo, is_now AND cost_type = 'usage' AND NOT of_nobody) AS own, sumIf(hi, is_now AND cost_type = 'shared' AND NOT of_nobody) + sumIf(lo, is_now AND cost_type = 'shared' AND NOT of_nobody) AS shared_among,
      sumIf(hi, is_now AND of_nobody) + sumIf(lo, is_now AND of_nobody) AS unallocated,
      toUInt8(maxIf(of_provisional, is_now)) AS is_provisional
    FROM (
    SELECT identity_id AS c0, currency AS c1, cost_type, timestamp >= {now_from:DateTime('UTC')} AS is_now, toUInt8(provisional) AS of_provisional, identity_id = 'UNALLOCATED' AS of_nobody, amount_hi AS hi, amount_lo AS lo, row_count AS n
    FROM published_sums_by_identity
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND NOT (timestamp >= {gap_from:DateTime('UTC')} AND timestamp < {gap_to:DateTime('UTC')})
  )
    GROUP BY c0, c1
  )
  WINDOW of_currency AS (PARTITION BY c1)
)
WHERE rank <= {groups_limit:UInt32}
WINDOW shown AS (PARTITION BY c1)
ORDER BY c1, is_nobody, rank

-- {"first_day":"2026-03-01","last_day":"2026-03-05","team":["search","UNASSIGNED"],"not_team":["UNASSIGNED","payments"],"timezone":"UTC","bucket_limit":10000,"row_limit":27576}
WITH
  (SELECT arraySort(arrayDistinct(arrayPushBack(groupUniqArray(toString(team)), 'UNASSIGNED'))) FROM identities) AS team_names,
  (
    SELECT (groupArray(identity_id), groupArray(toUInt32(transform(toString(team), team_names, range(1, length(team_names) + 1), 0))))
    FROM identities
  ) AS team_positions,
  buckets AS (
  SELECT bucket, c0, c1, c2,
    sum(hi) + sum(lo) AS total,
    sumIf(hi, cost_type = 'usage') + sumIf(lo, cost_type = 'usage') AS usage,
    sumIf(hi, cost_type = 'shared') + sumIf(lo, cost_type = 'shared') AS shared,
    sum(n) AS row_count, max(of_provisional) AS is_provisional
  FROM (
    SELECT toDate(timestamp, {timezone:String}) AS bucket, product_type AS c0, transform(identity_id, team_positions.1, team_positions.2, toUInt32(indexOf(team_names, 'UNASSIGNED'))) AS c1, currency AS c2, cost_type, toUInt8(provisional) AS of_provisional, amount_hi AS hi, amount_lo AS lo, 1 AS n
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND identity_id NOT IN (SELECT identity_id FROM identities WHERE team NOT IN {team:Array(String)}) AND identity_id IN (SELECT identity_id FROM identities WHERE team NOT IN {not_team:Array(String)})
  )
  GROUP BY bucket, c0, c1, c2
)
SELECT toString(bucket) AS label, c2 AS currency, toString(total), toString(usage), toString(shared), row_count, is_provisional, if(nth = 1, [toString(currency), toString(all_total), toString(all_usage), toString(all_shared), toString(all_rows), toString(all_buckets)], []), c0, team_names[c1]
FROM (
  SELECT *, sum(total) OVER w AS all_total, sum(usage) OVER w AS all_usage, sum(shared) OVER w AS all_shared,
    sum(row_count) OVER w AS all_rows, count() OVER w AS all_buckets, row_number() OVER w AS nth
  FROM buckets
  WINDOW w AS (PARTITION BY c2 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
  ORDER BY nth = 1 DESC, bucket, c0, c1, c2
  LIMIT {row_limit:UInt32}
)
QUALIFY row_number() OVER (ORDER BY bucket, c0, c1, c2) <= {bucket_limit:UInt32} OR nth = 1
ORDER BY bucket, c0, c1, c2

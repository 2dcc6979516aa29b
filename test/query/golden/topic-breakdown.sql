-- {"first_day":"2026-03-01","last_day":"2026-03-05","groups_limit":10}
SELECT toString(of_currency),
  if(grouping(position) = 1, -1, toInt32(position)) AS nth, count(), toString(sum(total)), toString(sum(usage)),
  toString(sum(shared)), sum(n), max(is_provisional), mapKeys(sumMap(series) AS over_time),
  arrayMap(amount -> toString(amount), mapValues(over_time)), any(t0)
FROM (
  SELECT *, multiIf(is_none, {groups_limit:UInt32} + 1, rank <= {groups_limit:UInt32}, rank, 0) AS position
  FROM (
    SELECT *, row_number() OVER (PARTITION BY of_currency, is_none ORDER BY abs(total) DESC, c0, of_currency) AS rank
    FROM (
      SELECT c0, of_currency, toString(c0) = '__UNATTRIBUTED__' AS is_none, sum(b_total) AS total, sum(b_usage) AS usage, total - usage AS shared,
        sum(b_rows) AS n, max(b_provisional) AS is_provisional, sumMap(map('', b_total)) AS series,
        toString(c0) AS t0
      FROM (
        SELECT 0 AS bucket, topic_name AS c0, currency AS of_currency, sum(amount_hi) + sum(amount_lo) AS b_total,
    sumIf(amount_hi, attribution_method IN ('bytes_ratio', 'retained_bytes_ratio')) + sumIf(amount_lo, attribution_method IN ('bytes_ratio', 'retained_bytes_ratio')) AS b_usage,
          count() AS b_rows, toUInt8(max(provisional)) AS b_provisional
        FROM topic_attributions
        WHERE day >= {first_day:Date} AND day <= {last_day:Date}
        GROUP BY bucket, c0, of_currency
      )
      GROUP BY c0, of_currency
    )
  )
)
GROUP BY GROUPING SETS ((of_currency, position), (of_currency))
ORDER BY of_currency, nth

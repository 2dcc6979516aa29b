-- {"first_day":"2026-03-01","last_day":"2026-03-06","from":"2026-03-01 07:00:00","to":"2026-03-06 07:00:00","cluster_resource_id":["lkc-1"],"timezone":"America/Denver","groups_limit":3,"search":"orders"}
WITH
  (
    SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources
  ) AS known_resources
SELECT toString(of_currency),
  if(grouping(position) = 1, -1, toInt32(position)) AS nth, count(), toString(sum(total)), toString(sum(usage)),
  toString(sum(shared)), sum(n), max(is_provisional), mapKeys(sumMap(series) AS over_time),
  arrayMap(amount -> toString(amount), mapValues(over_time)), any(t0), any(t1), any(t2)
FROM (
  SELECT *, multiIf(is_none, {groups_limit:UInt32} + 1, rank <= {groups_limit:UInt32}, rank, 0) AS position
  FROM (
    SELECT *, row_number() OVER (PARTITION BY of_currency, is_none ORDER BY lowerUTF8(if(t2 = '', t0, t2)) ASC, c0, c1, of_currency) AS rank
    FROM (
      SELECT c0, c1, of_currency, false AS is_none, sum(b_total) AS total, sum(b_usage) AS usage, total - usage AS shared,
        sum(b_rows) AS n, max(b_provisional) AS is_provisional, sumMap(map(formatDateTime(bucket, '%G-W%V'), b_total)) AS series,
        toString(c0) AS t0, toString(c1) AS t1, transform(c0, known_resources.1, known_resources.2, '') AS t2
      FROM (
        SELECT toMonday(timestamp, {timezone:String}) AS bucket, cluster_resource_id AS c0, product_type AS c1, currency AS of_currency, sum(amount_hi) + sum(amount_lo) AS b_total,
    sumIf(amount_hi, attribution_method IN ('bytes_ratio', 'retained_bytes_ratio')) + sumIf(amount_lo, attribution_method IN ('bytes_ratio', 'retained_bytes_ratio')) AS b_usage,
          count() AS b_rows, toUInt8(max(provisional)) AS b_provisional
        FROM topic_attributions
        WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} AND cluster_resource_id IN {cluster_resource_id:Array(String)}
        GROUP BY bucket, c0, c1, of_currency
      )
      GROUP BY c0, c1, of_currency
    )
    WHERE positionCaseInsensitiveUTF8(t0, {search:String}) > 0 OR positionCaseInsensitiveUTF8(t1, {search:String}) > 0 OR positionCaseInsensitiveUTF8(t2, {search:String}) > 0
  )
)
GROUP BY GROUPING SETS ((of_currency, position), (of_currency))
ORDER BY of_currency, nth

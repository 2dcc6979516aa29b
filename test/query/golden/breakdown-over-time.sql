-- {"first_day":"2026-03-01","last_day":"2026-03-05","timezone":"UTC","values_0":["sa-1","sa-2"],"numbers":[1,2],"positions":[1,2]}
SELECT if(grouping(bucket) = 1, '', toString(bucket)) AS label, toString(of_currency),
  if(grouping(position) = 1, -1, toInt32(position)), toString(sum(hi) + sum(lo))
FROM (
    SELECT toDate(timestamp, {timezone:String}) AS bucket, currency AS of_currency, transform(toUInt64(transform(identity_id, {values_0:Array(String)}, arrayEnumerate({values_0:Array(String)}), 0)), {numbers:Array(UInt64)}, {positions:Array(UInt32)}, toUInt32(0)) AS position, sum(amount_hi) AS hi, sum(amount_lo) AS lo
    FROM published_sums_by_identity
    WHERE day >= {first_day:Date} AND day <= {last_day:Date}
    GROUP BY bucket, of_currency, position
  )
GROUP BY GROUPING SETS ((bucket, of_currency, position), (bucket, of_currency), (of_currency))
ORDER BY grouping(bucket), bucket, of_currency

-- {"first_day":"2026-03-01","last_day":"2026-03-05","tag_key_c0":"squad","timezone":"UTC","values_0":["payments","UNTAGGED"],"values_1":["r-1","r-2"],"numbers":[4,7,5],"positions":[1,2,3]}
WITH
  tagged_c0 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_c0:String}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (
    SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String)), arraySort(arrayDistinct(arrayPushBack(groupUniqArray(name), 'UNTAGGED'))))
    FROM tagged_c0
  ) AS tag_values_c0,
  (
    SELECT (groupArray((((((((toUInt64(transform(ecosystem, tag_values_c0.1, range(1, length(tag_values_c0.1) + 1), 0))) * (length(tag_values_c0.2) + 1) + toUInt64(transform(tenant_id, tag_values_c0.2, range(1, length(tag_values_c0.2) + 1), 0))) * (length(tag_values_c0.3) + 1) + toUInt64(transform(env_id, tag_values_c0.3, range(1, length(tag_values_c0.3) + 1), 0))) * (length(tag_values_c0.4) + 1) + toUInt64(transform(resource_id, tag_values_c0.4, range(1, length(tag_values_c0.4) + 1), 0))) * (length(tag_values_c0.5) + 1) + toUInt64(transform(product_category, tag_values_c0.5, range(1, length(tag_values_c0.5) + 1), 0))) * (length(tag_values_c0.6) + 1) + toUInt64(transform(product_type, tag_values_c0.6, range(1, length(tag_values_c0.6) + 1), 0))) * (length(tag_values_c0.7) + 1) + toUInt64(transform(identity_id, tag_values_c0.7, range(1, length(tag_values_c0.7) + 1), 0))) * (length(tag_values_c0.8) + 1) + toUInt64(transform(cost_type, tag_values_c0.8, range(1, length(tag_values_c0.8) + 1), 0))), groupArray(toUInt32(transform(name, tag_values_c0.9, range(1, length(tag_values_c0.9) + 1), 0))))
    FROM tagged_c0
    WHERE NOT throwIf(toFloat64(length(tag_values_c0.1) + 1) * toFloat64(length(tag_values_c0.2) + 1) * toFloat64(length(tag_values_c0.3) + 1) * toFloat64(length(tag_values_c0.4) + 1) * toFloat64(length(tag_values_c0.5) + 1) * toFloat64(length(tag_values_c0.6) + 1) * toFloat64(length(tag_values_c0.7) + 1) * toFloat64(length(tag_values_c0.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  ) AS tag_positions_c0
SELECT if(grouping(bucket) = 1, '', formatDateTime(bucket, '%G-W%V')) AS label, toString(of_currency),
  if(grouping(position) = 1, -1, toInt32(position)), toString(sum(hi) + sum(lo))
FROM (
    SELECT toMonday(timestamp, {timezone:String}) AS bucket, currency AS of_currency, transform(toUInt64((transform(tag_values_c0.9[transform((((((((toUInt64(transform(ecosystem, tag_values_c0.1, range(1, length(tag_values_c0.1) + 1), 0))) * (length(tag_values_c0.2) + 1) + toUInt64(transform(tenant_id, tag_values_c0.2, range(1, length(tag_values_c0.2) + 1), 0))) * (length(tag_values_c0.3) + 1) + toUInt64(transform(env_id, tag_values_c0.3, range(1, length(tag_values_c0.3) + 1), 0))) * (length(tag_values_c0.4) + 1) + toUInt64(transform(resource_id, tag_values_c0.4, range(1, length(tag_values_c0.4) + 1), 0))) * (length(tag_values_c0.5) + 1) + toUInt64(transform(product_category, tag_values_c0.5, range(1, length(tag_values_c0.5) + 1), 0))) * (length(tag_values_c0.6) + 1) + toUInt64(transform(product_type, tag_values_c0.6, range(1, length(tag_values_c0.6) + 1), 0))) * (length(tag_values_c0.7) + 1) + toUInt64(transform(identity_id, tag_values_c0.7, range(1, length(tag_values_c0.7) + 1), 0))) * (length(tag_values_c0.8) + 1) + toUInt64(transform(cost_type, tag_values_c0.8, range(1, length(tag_values_c0.8) + 1), 0)), tag_positions_c0.1, tag_positions_c0.2, toUInt32(indexOf(tag_values_c0.9, 'UNTAGGED')))], {values_0:Array(String)}, arrayEnumerate({values_0:Array(String)}), 0)) * 3 + transform(resource_id, {values_1:Array(String)}, arrayEnumerate({values_1:Array(String)}), 0)), {numbers:Array(UInt64)}, {positions:Array(UInt32)}, toUInt32(0)) AS position, sum(amount_hi) AS hi, sum(amount_lo) AS lo
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date}
    GROUP BY bucket, of_currency, position
  )
GROUP BY GROUPING SETS ((bucket, of_currency, position), (bucket, of_currency), (of_currency))
ORDER BY grouping(bucket), bucket, of_currency

-- {"first_day":"2026-03-01","last_day":"2026-03-05","tag_key_f0":"squad","tag_names_0":["payments","search"],"tag_key_f1":"stage","tag_names_1":["UNTAGGED"],"tag_key_c0":"squad","tag_key_c2":"stage","timezone":"UTC","bucket_limit":10000,"row_limit":27576}
WITH
  tagged_f0 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_f0:String}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (
    SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String)),
      arraySort(arrayDistinct(arrayPushBack(groupUniqArray(name), 'UNTAGGED'))))
    FROM tagged_f0
  ) AS tag_values_f0,
  (
    SELECT (groupArray((((((((toUInt64(transform(ecosystem, tag_values_f0.1, range(1, length(tag_values_f0.1) + 1), 0))) * (length(tag_values_f0.2) + 1) + toUInt64(transform(tenant_id, tag_values_f0.2, range(1, length(tag_values_f0.2) + 1), 0))) * (length(tag_values_f0.3) + 1) + toUInt64(transform(env_id, tag_values_f0.3, range(1, length(tag_values_f0.3) + 1), 0))) * (length(tag_values_f0.4) + 1) + toUInt64(transform(resource_id, tag_values_f0.4, range(1, length(tag_values_f0.4) + 1), 0))) * (length(tag_values_f0.5) + 1) + toUInt64(transform(product_category, tag_values_f0.5, range(1, length(tag_values_f0.5) + 1), 0))) * (length(tag_values_f0.6) + 1) + toUInt64(transform(product_type, tag_values_f0.6, range(1, length(tag_values_f0.6) + 1), 0))) * (length(tag_values_f0.7) + 1) + toUInt64(transform(identity_id, tag_values_f0.7, range(1, length(tag_values_f0.7) + 1), 0))) * (length(tag_values_f0.8) + 1) + toUInt64(transform(cost_type, tag_values_f0.8, range(1, length(tag_values_f0.8) + 1), 0))), groupArray(toUInt32(transform(name, tag_values_f0.9, range(1, length(tag_values_f0.9) + 1), 0))))
    FROM tagged_f0
    WHERE NOT throwIf(toFloat64(length(tag_values_f0.1) + 1) * toFloat64(length(tag_values_f0.2) + 1) * toFloat64(length(tag_values_f0.3) + 1) * toFloat64(length(tag_values_f0.4) + 1) * toFloat64(length(tag_values_f0.5) + 1) * toFloat64(length(tag_values_f0.6) + 1) * toFloat64(length(tag_values_f0.7) + 1) * toFloat64(length(tag_values_f0.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  ) AS tag_places_f0,
  tagged_f1 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_f1:String}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (
    SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String)),
      arraySort(arrayDistinct(arrayPushBack(groupUniqArray(name), 'UNTAGGED'))))
    FROM tagged_f1
  ) AS tag_values_f1,
  (
    SELECT (groupArray((((((((toUInt64(transform(ecosystem, tag_values_f1.1, range(1, length(tag_values_f1.1) + 1), 0))) * (length(tag_values_f1.2) + 1) + toUInt64(transform(tenant_id, tag_values_f1.2, range(1, length(tag_values_f1.2) + 1), 0))) * (length(tag_values_f1.3) + 1) + toUInt64(transform(env_id, tag_values_f1.3, range(1, length(tag_values_f1.3) + 1), 0))) * (length(tag_values_f1.4) + 1) + toUInt64(transform(resource_id, tag_values_f1.4, range(1, length(tag_values_f1.4) + 1), 0))) * (length(tag_values_f1.5) + 1) + toUInt64(transform(product_category, tag_values_f1.5, range(1, length(tag_values_f1.5) + 1), 0))) * (length(tag_values_f1.6) + 1) + toUInt64(transform(product_type, tag_values_f1.6, range(1, length(tag_values_f1.6) + 1), 0))) * (length(tag_values_f1.7) + 1) + toUInt64(transform(identity_id, tag_values_f1.7, range(1, length(tag_values_f1.7) + 1), 0))) * (length(tag_values_f1.8) + 1) + toUInt64(transform(cost_type, tag_values_f1.8, range(1, length(tag_values_f1.8) + 1), 0))), groupArray(toUInt32(transform(name, tag_values_f1.9, range(1, length(tag_values_f1.9) + 1), 0))))
    FROM tagged_f1
    WHERE NOT throwIf(toFloat64(length(tag_values_f1.1) + 1) * toFloat64(length(tag_values_f1.2) + 1) * toFloat64(length(tag_values_f1.3) + 1) * toFloat64(length(tag_values_f1.4) + 1) * toFloat64(length(tag_values_f1.5) + 1) * toFloat64(length(tag_values_f1.6) + 1) * toFloat64(length(tag_values_f1.7) + 1) * toFloat64(length(tag_values_f1.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  ) AS tag_places_f1,
  tagged_c0 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_c0:String}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (
    SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String)),
      arraySort(arrayDistinct(arrayPushBack(groupUniqArray(name), 'UNTAGGED'))))
    FROM tagged_c0
  ) AS tag_values_c0,
  (
    SELECT (groupArray((((((((toUInt64(transform(ecosystem, tag_values_c0.1, range(1, length(tag_values_c0.1) + 1), 0))) * (length(tag_values_c0.2) + 1) + toUInt64(transform(tenant_id, tag_values_c0.2, range(1, length(tag_values_c0.2) + 1), 0))) * (length(tag_values_c0.3) + 1) + toUInt64(transform(env_id, tag_values_c0.3, range(1, length(tag_values_c0.3) + 1), 0))) * (length(tag_values_c0.4) + 1) + toUInt64(transform(resource_id, tag_values_c0.4, range(1, length(tag_values_c0.4) + 1), 0))) * (length(tag_values_c0.5) + 1) + toUInt64(transform(product_category, tag_values_c0.5, range(1, length(tag_values_c0.5) + 1), 0))) * (length(tag_values_c0.6) + 1) + toUInt64(transform(product_type, tag_values_c0.6, range(1, length(tag_values_c0.6) + 1), 0))) * (length(tag_values_c0.7) + 1) + toUInt64(transform(identity_id, tag_values_c0.7, range(1, length(tag_values_c0.7) + 1), 0))) * (length(tag_values_c0.8) + 1) + toUInt64(transform(cost_type, tag_values_c0.8, range(1, length(tag_values_c0.8) + 1), 0))), groupArray(toUInt32(transform(name, tag_values_c0.9, range(1, length(tag_values_c0.9) + 1), 0))))
    FROM tagged_c0
    WHERE NOT throwIf(toFloat64(length(tag_values_c0.1) + 1) * toFloat64(length(tag_values_c0.2) + 1) * toFloat64(length(tag_values_c0.3) + 1) * toFloat64(length(tag_values_c0.4) + 1) * toFloat64(length(tag_values_c0.5) + 1) * toFloat64(length(tag_values_c0.6) + 1) * toFloat64(length(tag_values_c0.7) + 1) * toFloat64(length(tag_values_c0.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  ) AS tag_places_c0,
  tagged_c2 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_c2:String}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (
    SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String)),
      arraySort(arrayDistinct(arrayPushBack(groupUniqArray(name), 'UNTAGGED'))))
    FROM tagged_c2
  ) AS tag_values_c2,
  (
    SELECT (groupArray((((((((toUInt64(transform(ecosystem, tag_values_c2.1, range(1, length(tag_values_c2.1) + 1), 0))) * (length(tag_values_c2.2) + 1) + toUInt64(transform(tenant_id, tag_values_c2.2, range(1, length(tag_values_c2.2) + 1), 0))) * (length(tag_values_c2.3) + 1) + toUInt64(transform(env_id, tag_values_c2.3, range(1, length(tag_values_c2.3) + 1), 0))) * (length(tag_values_c2.4) + 1) + toUInt64(transform(resource_id, tag_values_c2.4, range(1, length(tag_values_c2.4) + 1), 0))) * (length(tag_values_c2.5) + 1) + toUInt64(transform(product_category, tag_values_c2.5, range(1, length(tag_values_c2.5) + 1), 0))) * (length(tag_values_c2.6) + 1) + toUInt64(transform(product_type, tag_values_c2.6, range(1, length(tag_values_c2.6) + 1), 0))) * (length(tag_values_c2.7) + 1) + toUInt64(transform(identity_id, tag_values_c2.7, range(1, length(tag_values_c2.7) + 1), 0))) * (length(tag_values_c2.8) + 1) + toUInt64(transform(cost_type, tag_values_c2.8, range(1, length(tag_values_c2.8) + 1), 0))), groupArray(toUInt32(transform(name, tag_values_c2.9, range(1, length(tag_values_c2.9) + 1), 0))))
    FROM tagged_c2
    WHERE NOT throwIf(toFloat64(length(tag_values_c2.1) + 1) * toFloat64(length(tag_values_c2.2) + 1) * toFloat64(length(tag_values_c2.3) + 1) * toFloat64(length(tag_values_c2.4) + 1) * toFloat64(length(tag_values_c2.5) + 1) * toFloat64(length(tag_values_c2.6) + 1) * toFloat64(length(tag_values_c2.7) + 1) * toFloat64(length(tag_values_c2.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  ) AS tag_places_c2,
  (
    SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities
  ) AS known_identities,
  buckets AS (
  SELECT bucket, c0, c1, c2, c3,
    sum(hi) + sum(lo) AS total,
    sumIf(hi, cost_type = 'usage') + sumIf(lo, cost_type = 'usage') AS usage,
    sumIf(hi, cost_type = 'shared') + sumIf(lo, cost_type = 'shared') AS shared,
    sum(n) AS row_count, max(of_provisional) AS is_provisional
  FROM (
    SELECT toDate(timestamp, {timezone:String}) AS bucket, transform((((((((toUInt64(transform(ecosystem, tag_values_c0.1, range(1, length(tag_values_c0.1) + 1), 0))) * (length(tag_values_c0.2) + 1) + toUInt64(transform(tenant_id, tag_values_c0.2, range(1, length(tag_values_c0.2) + 1), 0))) * (length(tag_values_c0.3) + 1) + toUInt64(transform(env_id, tag_values_c0.3, range(1, length(tag_values_c0.3) + 1), 0))) * (length(tag_values_c0.4) + 1) + toUInt64(transform(resource_id, tag_values_c0.4, range(1, length(tag_values_c0.4) + 1), 0))) * (length(tag_values_c0.5) + 1) + toUInt64(transform(product_category, tag_values_c0.5, range(1, length(tag_values_c0.5) + 1), 0))) * (length(tag_values_c0.6) + 1) + toUInt64(transform(product_type, tag_values_c0.6, range(1, length(tag_values_c0.6) + 1), 0))) * (length(tag_values_c0.7) + 1) + toUInt64(transform(identity_id, tag_values_c0.7, range(1, length(tag_values_c0.7) + 1), 0))) * (length(tag_values_c0.8) + 1) + toUInt64(transform(cost_type, tag_values_c0.8, range(1, length(tag_values_c0.8) + 1), 0)), tag_places_c0.1, tag_places_c0.2, toUInt32(indexOf(tag_values_c0.9, 'UNTAGGED'))) AS c0, identity_id AS c1, transform((((((((toUInt64(transform(ecosystem, tag_values_c2.1, range(1, length(tag_values_c2.1) + 1), 0))) * (length(tag_values_c2.2) + 1) + toUInt64(transform(tenant_id, tag_values_c2.2, range(1, length(tag_values_c2.2) + 1), 0))) * (length(tag_values_c2.3) + 1) + toUInt64(transform(env_id, tag_values_c2.3, range(1, length(tag_values_c2.3) + 1), 0))) * (length(tag_values_c2.4) + 1) + toUInt64(transform(resource_id, tag_values_c2.4, range(1, length(tag_values_c2.4) + 1), 0))) * (length(tag_values_c2.5) + 1) + toUInt64(transform(product_category, tag_values_c2.5, range(1, length(tag_values_c2.5) + 1), 0))) * (length(tag_values_c2.6) + 1) + toUInt64(transform(product_type, tag_values_c2.6, range(1, length(tag_values_c2.6) + 1), 0))) * (length(tag_values_c2.7) + 1) + toUInt64(transform(identity_id, tag_values_c2.7, range(1, length(tag_values_c2.7) + 1), 0))) * (length(tag_values_c2.8) + 1) + toUInt64(transform(cost_type, tag_values_c2.8, range(1, length(tag_values_c2.8) + 1), 0)), tag_places_c2.1, tag_places_c2.2, toUInt32(indexOf(tag_values_c2.9, 'UNTAGGED'))) AS c2, currency AS c3, cost_type, toUInt8(provisional) AS of_provisional, amount_hi AS hi, amount_lo AS lo, 1 AS n
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND resource_id IN (SELECT resource_id FROM tagged_f0 WHERE has({tag_names_0:Array(String)}, name)) AND identity_id IN (SELECT identity_id FROM tagged_f0 WHERE has({tag_names_0:Array(String)}, name)) AND has(arrayFilter(place -> has({tag_names_0:Array(String)}, tag_values_f0.9[place]), arrayEnumerate(tag_values_f0.9)), transform((((((((toUInt64(transform(ecosystem, tag_values_f0.1, range(1, length(tag_values_f0.1) + 1), 0))) * (length(tag_values_f0.2) + 1) + toUInt64(transform(tenant_id, tag_values_f0.2, range(1, length(tag_values_f0.2) + 1), 0))) * (length(tag_values_f0.3) + 1) + toUInt64(transform(env_id, tag_values_f0.3, range(1, length(tag_values_f0.3) + 1), 0))) * (length(tag_values_f0.4) + 1) + toUInt64(transform(resource_id, tag_values_f0.4, range(1, length(tag_values_f0.4) + 1), 0))) * (length(tag_values_f0.5) + 1) + toUInt64(transform(product_category, tag_values_f0.5, range(1, length(tag_values_f0.5) + 1), 0))) * (length(tag_values_f0.6) + 1) + toUInt64(transform(product_type, tag_values_f0.6, range(1, length(tag_values_f0.6) + 1), 0))) * (length(tag_values_f0.7) + 1) + toUInt64(transform(identity_id, tag_values_f0.7, range(1, length(tag_values_f0.7) + 1), 0))) * (length(tag_values_f0.8) + 1) + toUInt64(transform(cost_type, tag_values_f0.8, range(1, length(tag_values_f0.8) + 1), 0)), tag_places_f0.1, tag_places_f0.2, toUInt32(indexOf(tag_values_f0.9, 'UNTAGGED')))) AND has(arrayFilter(place -> has({tag_names_1:Array(String)}, tag_values_f1.9[place]), arrayEnumerate(tag_values_f1.9)), transform((((((((toUInt64(transform(ecosystem, tag_values_f1.1, range(1, length(tag_values_f1.1) + 1), 0))) * (length(tag_values_f1.2) + 1) + toUInt64(transform(tenant_id, tag_values_f1.2, range(1, length(tag_values_f1.2) + 1), 0))) * (length(tag_values_f1.3) + 1) + toUInt64(transform(env_id, tag_values_f1.3, range(1, length(tag_values_f1.3) + 1), 0))) * (length(tag_values_f1.4) + 1) + toUInt64(transform(resource_id, tag_values_f1.4, range(1, length(tag_values_f1.4) + 1), 0))) * (length(tag_values_f1.5) + 1) + toUInt64(transform(product_category, tag_values_f1.5, range(1, length(tag_values_f1.5) + 1), 0))) * (length(tag_values_f1.6) + 1) + toUInt64(transform(product_type, tag_values_f1.6, range(1, length(tag_values_f1.6) + 1), 0))) * (length(tag_values_f1.7) + 1) + toUInt64(transform(identity_id, tag_values_f1.7, range(1, length(tag_values_f1.7) + 1), 0))) * (length(tag_values_f1.8) + 1) + toUInt64(transform(cost_type, tag_values_f1.8, range(1, length(tag_values_f1.8) + 1), 0)), tag_places_f1.1, tag_places_f1.2, toUInt32(indexOf(tag_values_f1.9, 'UNTAGGED'))))
  )
  GROUP BY bucket, c0, c1, c2, c3
)
SELECT toString(bucket) AS label, c3 AS currency, toString(total), toString(usage), toString(shared), row_count, is_provisional, if(nth = 1, [toString(currency), toString(all_total), toString(all_usage), toString(all_shared), toString(all_rows), toString(all_buckets)], []), tag_values_c0.9[c0], c1, tag_values_c2.9[c2], transform(c1, known_identities.1, known_identities.2, '')
FROM (
  SELECT *, sum(total) OVER w AS all_total, sum(usage) OVER w AS all_usage, sum(shared) OVER w AS all_shared,
    sum(row_count) OVER w AS all_rows, count() OVER w AS all_buckets, row_number() OVER w AS nth
  FROM buckets
  WINDOW w AS (PARTITION BY c3 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
  ORDER BY nth = 1 DESC, bucket, c0, c1, c2, c3
  LIMIT {row_limit:UInt32}
)
QUALIFY row_number() OVER (ORDER BY bucket, c0, c1, c2, c3) <= {bucket_limit:UInt32} OR nth = 1
ORDER BY bucket, c0, c1, c2, c3

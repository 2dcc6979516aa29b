-- {"first_day":"2026-02-24","last_day":"2026-03-05","identity_id":["sa-1"],"not_identity_id":["sa-2","sa-3"],"resource_id":["r-1"],"product_type":["STORAGE"],"currency":["EUR"],"cost_type":["usage"],"tag_key_f0":"squad","tag_names_0":["payments","search"],"tag_key_f1":"stage","tag_names_1":["UNTAGGED"],"tag_key_c1":"squad","search":"gate","now_from":"2026-03-01 00:00:00","groups_limit":10}
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
  (SELECT arraySort(arrayDistinct(arrayPushBack(groupUniqArray(toString(team)), 'UNASSIGNED'))) FROM identities) AS team_names,
  (
    SELECT (groupArray(identity_id), groupArray(toUInt32(transform(toString(team), team_names, range(1, length(team_names) + 1), 0))))
    FROM identities
  ) AS team_places,
  tagged_c1 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_c1:String}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (
    SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String)),
      arraySort(arrayDistinct(arrayPushBack(groupUniqArray(name), 'UNTAGGED'))))
    FROM tagged_c1
  ) AS tag_values_c1,
  (
    SELECT (groupArray((((((((toUInt64(transform(ecosystem, tag_values_c1.1, range(1, length(tag_values_c1.1) + 1), 0))) * (length(tag_values_c1.2) + 1) + toUInt64(transform(tenant_id, tag_values_c1.2, range(1, length(tag_values_c1.2) + 1), 0))) * (length(tag_values_c1.3) + 1) + toUInt64(transform(env_id, tag_values_c1.3, range(1, length(tag_values_c1.3) + 1), 0))) * (length(tag_values_c1.4) + 1) + toUInt64(transform(resource_id, tag_values_c1.4, range(1, length(tag_values_c1.4) + 1), 0))) * (length(tag_values_c1.5) + 1) + toUInt64(transform(product_category, tag_values_c1.5, range(1, length(tag_values_c1.5) + 1), 0))) * (length(tag_values_c1.6) + 1) + toUInt64(transform(product_type, tag_values_c1.6, range(1, length(tag_values_c1.6) + 1), 0))) * (length(tag_values_c1.7) + 1) + toUInt64(transform(identity_id, tag_values_c1.7, range(1, length(tag_values_c1.7) + 1), 0))) * (length(tag_values_c1.8) + 1) + toUInt64(transform(cost_type, tag_values_c1.8, range(1, length(tag_values_c1.8) + 1), 0))), groupArray(toUInt32(transform(name, tag_values_c1.9, range(1, length(tag_values_c1.9) + 1), 0))))
    FROM tagged_c1
    WHERE NOT throwIf(toFloat64(length(tag_values_c1.1) + 1) * toFloat64(length(tag_values_c1.2) + 1) * toFloat64(length(tag_values_c1.3) + 1) * toFloat64(length(tag_values_c1.4) + 1) * toFloat64(length(tag_values_c1.5) + 1) * toFloat64(length(tag_values_c1.6) + 1) * toFloat64(length(tag_values_c1.7) + 1) * toFloat64(length(tag_values_c1.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  ) AS tag_places_c1,
  (
    SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources WHERE resource_id IN {resource_id:Array(String)}
  ) AS known_resources
SELECT toString(c3), toString(total), toString(usage), toString(shared), toString(rows), toString(previous), is_provisional,
  [toString(all_total), toString(all_usage), toString(all_shared), toString(all_rows), toString(all_previous), toString(all_groups)],
  [toString(all_total - sumIf(total, place <= {groups_limit:UInt32}) OVER shown), toString(all_usage - sumIf(usage, place <= {groups_limit:UInt32}) OVER shown), toString(all_shared - sumIf(shared, place <= {groups_limit:UInt32}) OVER shown), toString(all_rows - sumIf(rows, place <= {groups_limit:UInt32}) OVER shown), toString(all_previous - sumIf(previous, place <= {groups_limit:UInt32}) OVER shown), toString(all_groups - countIf(place <= {groups_limit:UInt32}) OVER shown)], place, mover, c0, tag_values_c1.9[c1], team_names[c2], transform(c0, known_resources.1, known_resources.2, '')
FROM (
  SELECT *, row_number() OVER (PARTITION BY c3 ORDER BY abs(total - previous) DESC, c0, c1, c2, c3) AS place, toUInt64(0) AS mover,
    sum(total) OVER of_currency AS all_total, sum(usage) OVER of_currency AS all_usage, sum(shared) OVER of_currency AS all_shared, sum(rows) OVER of_currency AS all_rows, sum(previous) OVER of_currency AS all_previous, count() OVER of_currency AS all_groups
  FROM (
    SELECT c0, c1, c2, c3, sumIf(hi, is_now) + sumIf(lo, is_now) AS total, sumIf(hi, is_now AND cost_type = 'usage') + sumIf(lo, is_now AND cost_type = 'usage') AS usage,
      sumIf(hi, is_now AND cost_type = 'shared') + sumIf(lo, is_now AND cost_type = 'shared') AS shared, sumIf(n, is_now) AS rows, sumIf(hi, NOT is_now) + sumIf(lo, NOT is_now) AS previous,
      toUInt8(maxIf(of_provisional, is_now)) AS is_provisional
    FROM (
    SELECT resource_id AS c0, transform((((((((toUInt64(transform(ecosystem, tag_values_c1.1, range(1, length(tag_values_c1.1) + 1), 0))) * (length(tag_values_c1.2) + 1) + toUInt64(transform(tenant_id, tag_values_c1.2, range(1, length(tag_values_c1.2) + 1), 0))) * (length(tag_values_c1.3) + 1) + toUInt64(transform(env_id, tag_values_c1.3, range(1, length(tag_values_c1.3) + 1), 0))) * (length(tag_values_c1.4) + 1) + toUInt64(transform(resource_id, tag_values_c1.4, range(1, length(tag_values_c1.4) + 1), 0))) * (length(tag_values_c1.5) + 1) + toUInt64(transform(product_category, tag_values_c1.5, range(1, length(tag_values_c1.5) + 1), 0))) * (length(tag_values_c1.6) + 1) + toUInt64(transform(product_type, tag_values_c1.6, range(1, length(tag_values_c1.6) + 1), 0))) * (length(tag_values_c1.7) + 1) + toUInt64(transform(identity_id, tag_values_c1.7, range(1, length(tag_values_c1.7) + 1), 0))) * (length(tag_values_c1.8) + 1) + toUInt64(transform(cost_type, tag_values_c1.8, range(1, length(tag_values_c1.8) + 1), 0)), tag_places_c1.1, tag_places_c1.2, toUInt32(indexOf(tag_values_c1.9, 'UNTAGGED'))) AS c1, transform(identity_id, team_places.1, team_places.2, toUInt32(indexOf(team_names, 'UNASSIGNED'))) AS c2, currency AS c3, cost_type, timestamp >= {now_from:DateTime('UTC')} AS is_now, toUInt8(provisional) AS of_provisional, amount_hi AS hi, amount_lo AS lo, 1 AS n
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND identity_id IN {identity_id:Array(String)} AND identity_id NOT IN {not_identity_id:Array(String)} AND resource_id IN {resource_id:Array(String)} AND product_type IN {product_type:Array(String)} AND currency IN {currency:Array(String)} AND cost_type IN {cost_type:Array(String)} AND resource_id IN (SELECT resource_id FROM tagged_f0 WHERE has({tag_names_0:Array(String)}, name)) AND identity_id IN (SELECT identity_id FROM tagged_f0 WHERE has({tag_names_0:Array(String)}, name)) AND has(arrayFilter(place -> has({tag_names_0:Array(String)}, tag_values_f0.9[place]), arrayEnumerate(tag_values_f0.9)), transform((((((((toUInt64(transform(ecosystem, tag_values_f0.1, range(1, length(tag_values_f0.1) + 1), 0))) * (length(tag_values_f0.2) + 1) + toUInt64(transform(tenant_id, tag_values_f0.2, range(1, length(tag_values_f0.2) + 1), 0))) * (length(tag_values_f0.3) + 1) + toUInt64(transform(env_id, tag_values_f0.3, range(1, length(tag_values_f0.3) + 1), 0))) * (length(tag_values_f0.4) + 1) + toUInt64(transform(resource_id, tag_values_f0.4, range(1, length(tag_values_f0.4) + 1), 0))) * (length(tag_values_f0.5) + 1) + toUInt64(transform(product_category, tag_values_f0.5, range(1, length(tag_values_f0.5) + 1), 0))) * (length(tag_values_f0.6) + 1) + toUInt64(transform(product_type, tag_values_f0.6, range(1, length(tag_values_f0.6) + 1), 0))) * (length(tag_values_f0.7) + 1) + toUInt64(transform(identity_id, tag_values_f0.7, range(1, length(tag_values_f0.7) + 1), 0))) * (length(tag_values_f0.8) + 1) + toUInt64(transform(cost_type, tag_values_f0.8, range(1, length(tag_values_f0.8) + 1), 0)), tag_places_f0.1, tag_places_f0.2, toUInt32(indexOf(tag_values_f0.9, 'UNTAGGED')))) AND has(arrayFilter(place -> has({tag_names_1:Array(String)}, tag_values_f1.9[place]), arrayEnumerate(tag_values_f1.9)), transform((((((((toUInt64(transform(ecosystem, tag_values_f1.1, range(1, length(tag_values_f1.1) + 1), 0))) * (length(tag_values_f1.2) + 1) + toUInt64(transform(tenant_id, tag_values_f1.2, range(1, length(tag_values_f1.2) + 1), 0))) * (length(tag_values_f1.3) + 1) + toUInt64(transform(env_id, tag_values_f1.3, range(1, length(tag_values_f1.3) + 1), 0))) * (length(tag_values_f1.4) + 1) + toUInt64(transform(resource_id, tag_values_f1.4, range(1, length(tag_values_f1.4) + 1), 0))) * (length(tag_values_f1.5) + 1) + toUInt64(transform(product_category, tag_values_f1.5, range(1, length(tag_values_f1.5) + 1), 0))) * (length(tag_values_f1.6) + 1) + toUInt64(transform(product_type, tag_values_f1.6, range(1, length(tag_values_f1.6) + 1), 0))) * (length(tag_values_f1.7) + 1) + toUInt64(transform(identity_id, tag_values_f1.7, range(1, length(tag_values_f1.7) + 1), 0))) * (length(tag_values_f1.8) + 1) + toUInt64(transform(cost_type, tag_values_f1.8, range(1, length(tag_values_f1.8) + 1), 0)), tag_places_f1.1, tag_places_f1.2, toUInt32(indexOf(tag_values_f1.9, 'UNTAGGED'))))
  )
    GROUP BY c0, c1, c2, c3
  )
  WHERE positionCaseInsensitiveUTF8(toString(c0), {search:String}) > 0 OR positionCaseInsensitiveUTF8(toString(tag_values_c1.9[c1]), {search:String}) > 0 OR positionCaseInsensitiveUTF8(toString(team_names[c2]), {search:String}) > 0 OR positionCaseInsensitiveUTF8(toString(transform(c0, known_resources.1, known_resources.2, '')), {search:String}) > 0
  WINDOW of_currency AS (PARTITION BY c3)
)
WHERE place <= {groups_limit:UInt32}
WINDOW shown AS (PARTITION BY c3)
ORDER BY c3, place

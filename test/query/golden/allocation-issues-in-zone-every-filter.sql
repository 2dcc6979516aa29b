-- {"first_day":"2026-03-01","last_day":"2026-03-06","from":"2026-03-01 07:00:00","to":"2026-03-06 07:00:00","identity_id":["sa-1"],"not_identity_id":["sa-2","sa-3"],"resource_id":["r-1"],"product_type":["STORAGE"],"currency":["EUR"],"cost_type":["usage"],"tag_key_f0":"squad","tag_names_0":["payments","search"],"tag_key_f1":"stage","tag_names_1":["UNTAGGED"],"issue_details":["no_metrics_located","metrics_fetch_failed","no_usage_for_active_identities","no_active_identities_located","no_identities_located","owner_unknown","no_identity_on_line","no_allocator_for_product_type","allocation_failed"],"page_size":100,"offset":0}
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
  ) AS tag_places_f1
SELECT ecosystem, env_id, resource_id, product_type, identity_id, allocation_detail, currency, row_count, toString(usage) AS usage_cost, toString(shared) AS shared_cost,
  toString(total) AS total_cost, groups
FROM (
  SELECT *, count() OVER () AS groups
  FROM (
    SELECT ecosystem, env_id, resource_id, product_type, identity_id, allocation_detail, currency, count() AS row_count, sum(amount_hi) + sum(amount_lo) AS total,
      sumIf(amount_hi, cost_type = 'usage') + sumIf(amount_lo, cost_type = 'usage') AS usage,
      sumIf(amount_hi, cost_type = 'shared') + sumIf(amount_lo, cost_type = 'shared') AS shared
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} AND allocation_detail IN {issue_details:Array(String)} AND identity_id IN {identity_id:Array(String)} AND identity_id NOT IN {not_identity_id:Array(String)} AND resource_id IN {resource_id:Array(String)} AND product_type IN {product_type:Array(String)} AND currency IN {currency:Array(String)} AND cost_type IN {cost_type:Array(String)} AND resource_id IN (SELECT resource_id FROM tagged_f0 WHERE has({tag_names_0:Array(String)}, name)) AND identity_id IN (SELECT identity_id FROM tagged_f0 WHERE has({tag_names_0:Array(String)}, name)) AND has(arrayFilter(place -> has({tag_names_0:Array(String)}, tag_values_f0.9[place]), arrayEnumerate(tag_values_f0.9)), transform((((((((toUInt64(transform(ecosystem, tag_values_f0.1, range(1, length(tag_values_f0.1) + 1), 0))) * (length(tag_values_f0.2) + 1) + toUInt64(transform(tenant_id, tag_values_f0.2, range(1, length(tag_values_f0.2) + 1), 0))) * (length(tag_values_f0.3) + 1) + toUInt64(transform(env_id, tag_values_f0.3, range(1, length(tag_values_f0.3) + 1), 0))) * (length(tag_values_f0.4) + 1) + toUInt64(transform(resource_id, tag_values_f0.4, range(1, length(tag_values_f0.4) + 1), 0))) * (length(tag_values_f0.5) + 1) + toUInt64(transform(product_category, tag_values_f0.5, range(1, length(tag_values_f0.5) + 1), 0))) * (length(tag_values_f0.6) + 1) + toUInt64(transform(product_type, tag_values_f0.6, range(1, length(tag_values_f0.6) + 1), 0))) * (length(tag_values_f0.7) + 1) + toUInt64(transform(identity_id, tag_values_f0.7, range(1, length(tag_values_f0.7) + 1), 0))) * (length(tag_values_f0.8) + 1) + toUInt64(transform(cost_type, tag_values_f0.8, range(1, length(tag_values_f0.8) + 1), 0)), tag_places_f0.1, tag_places_f0.2, toUInt32(indexOf(tag_values_f0.9, 'UNTAGGED')))) AND has(arrayFilter(place -> has({tag_names_1:Array(String)}, tag_values_f1.9[place]), arrayEnumerate(tag_values_f1.9)), transform((((((((toUInt64(transform(ecosystem, tag_values_f1.1, range(1, length(tag_values_f1.1) + 1), 0))) * (length(tag_values_f1.2) + 1) + toUInt64(transform(tenant_id, tag_values_f1.2, range(1, length(tag_values_f1.2) + 1), 0))) * (length(tag_values_f1.3) + 1) + toUInt64(transform(env_id, tag_values_f1.3, range(1, length(tag_values_f1.3) + 1), 0))) * (length(tag_values_f1.4) + 1) + toUInt64(transform(resource_id, tag_values_f1.4, range(1, length(tag_values_f1.4) + 1), 0))) * (length(tag_values_f1.5) + 1) + toUInt64(transform(product_category, tag_values_f1.5, range(1, length(tag_values_f1.5) + 1), 0))) * (length(tag_values_f1.6) + 1) + toUInt64(transform(product_type, tag_values_f1.6, range(1, length(tag_values_f1.6) + 1), 0))) * (length(tag_values_f1.7) + 1) + toUInt64(transform(identity_id, tag_values_f1.7, range(1, length(tag_values_f1.7) + 1), 0))) * (length(tag_values_f1.8) + 1) + toUInt64(transform(cost_type, tag_values_f1.8, range(1, length(tag_values_f1.8) + 1), 0)), tag_places_f1.1, tag_places_f1.2, toUInt32(indexOf(tag_values_f1.9, 'UNTAGGED'))))
    GROUP BY ecosystem, env_id, resource_id, product_type, identity_id, allocation_detail, currency
  )
)
ORDER BY total DESC, ecosystem, env_id, resource_id, product_type, identity_id, allocation_detail, currency
LIMIT {page_size:UInt32} OFFSET {offset:UInt64}

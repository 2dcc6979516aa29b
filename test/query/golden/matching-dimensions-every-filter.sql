-- {"first_day":"2026-03-01","last_day":"2026-03-06","from":"2026-03-01 07:00:00","to":"2026-03-06 07:00:00","identity_id":["sa-1"],"resource_id":["r-1"],"product_type":["STORAGE"],"environment_id":["env-1"],"cost_type":["usage"],"not_allocation_method":["terminal"],"tag_key_f0":"squad","tag_names_0":["payments"]}
WITH
  (SELECT (groupArray(fingerprint), groupArray(dimension_id)) FROM dimension_collisions FINAL) AS collided,
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
  ) AS tag_places_f0
SELECT if(notEmpty(collided.1) AND has(collided.1, reinterpretAsUInt128(sipHash128(CAST(ecosystem AS String), CAST(tenant_id AS String), CAST(env_id AS String), CAST(resource_id AS String), CAST(product_category AS String), CAST(product_type AS String), CAST(identity_id AS String), CAST(cost_type AS String)))), collided.2[indexOf(collided.1, reinterpretAsUInt128(sipHash128(CAST(ecosystem AS String), CAST(tenant_id AS String), CAST(env_id AS String), CAST(resource_id AS String), CAST(product_category AS String), CAST(product_type AS String), CAST(identity_id AS String), CAST(cost_type AS String))))], bitAnd(reinterpretAsUInt64(reinterpretAsUInt128(sipHash128(CAST(ecosystem AS String), CAST(tenant_id AS String), CAST(env_id AS String), CAST(resource_id AS String), CAST(product_category AS String), CAST(product_type AS String), CAST(identity_id AS String), CAST(cost_type AS String)))), 9007199254740991)) AS dimension_id
FROM (
  SELECT ecosystem, tenant_id, env_id, resource_id, product_category, product_type, cost_type, arrayJoin(identities) AS identity_id
  FROM (
    SELECT ecosystem, tenant_id, env_id, resource_id, product_category, product_type, cost_type, groupUniqArray(identity_id) AS identities
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} AND identity_id IN {identity_id:Array(String)} AND resource_id IN {resource_id:Array(String)} AND product_type IN {product_type:Array(String)} AND env_id IN {environment_id:Array(String)} AND cost_type IN {cost_type:Array(String)} AND allocation_method NOT IN {not_allocation_method:Array(String)} AND NOT has(arrayFilter(place -> has({tag_names_0:Array(String)}, tag_values_f0.9[place]), arrayEnumerate(tag_values_f0.9)), transform((((((((toUInt64(transform(ecosystem, tag_values_f0.1, range(1, length(tag_values_f0.1) + 1), 0))) * (length(tag_values_f0.2) + 1) + toUInt64(transform(tenant_id, tag_values_f0.2, range(1, length(tag_values_f0.2) + 1), 0))) * (length(tag_values_f0.3) + 1) + toUInt64(transform(env_id, tag_values_f0.3, range(1, length(tag_values_f0.3) + 1), 0))) * (length(tag_values_f0.4) + 1) + toUInt64(transform(resource_id, tag_values_f0.4, range(1, length(tag_values_f0.4) + 1), 0))) * (length(tag_values_f0.5) + 1) + toUInt64(transform(product_category, tag_values_f0.5, range(1, length(tag_values_f0.5) + 1), 0))) * (length(tag_values_f0.6) + 1) + toUInt64(transform(product_type, tag_values_f0.6, range(1, length(tag_values_f0.6) + 1), 0))) * (length(tag_values_f0.7) + 1) + toUInt64(transform(identity_id, tag_values_f0.7, range(1, length(tag_values_f0.7) + 1), 0))) * (length(tag_values_f0.8) + 1) + toUInt64(transform(cost_type, tag_values_f0.8, range(1, length(tag_values_f0.8) + 1), 0)), tag_places_f0.1, tag_places_f0.2, toUInt32(indexOf(tag_values_f0.9, 'UNTAGGED'))))
    GROUP BY ecosystem, tenant_id, env_id, resource_id, product_category, product_type, cost_type
  )
)
ORDER BY dimension_id

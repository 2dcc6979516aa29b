-- {"first_day":"2026-03-01","last_day":"2026-03-06","from":"2026-03-01 07:00:00","to":"2026-03-06 07:00:00","identity_id":"sa-1","product_type":"STORAGE","resource_id":"r-1","cost_type":"usage","tag_key_f0":"squad","tag_names_0":["payments","search"],"tag_key_f1":"stage","tag_names_1":["UNTAGGED"],"page_first":"2026-03-01","page_last":"2026-03-02","rows":100,"offset":7}
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
  page AS (
    SELECT day, timestamp, env_id, resource_id, product_category, product_type, identity_id, allocation_method, component, component_ratio, tier, metric, ecosystem, tenant_id, cost_type, allocation_detail, provisional, amount_hi, amount_lo
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} AND identity_id = {identity_id:String} AND product_type = {product_type:String} AND resource_id = {resource_id:String} AND cost_type = {cost_type:String} AND resource_id IN (SELECT resource_id FROM tagged_f0 WHERE has({tag_names_0:Array(String)}, name)) AND identity_id IN (SELECT identity_id FROM tagged_f0 WHERE has({tag_names_0:Array(String)}, name)) AND has(arrayFilter(place -> has({tag_names_0:Array(String)}, tag_values_f0.9[place]), arrayEnumerate(tag_values_f0.9)), transform((((((((toUInt64(transform(ecosystem, tag_values_f0.1, range(1, length(tag_values_f0.1) + 1), 0))) * (length(tag_values_f0.2) + 1) + toUInt64(transform(tenant_id, tag_values_f0.2, range(1, length(tag_values_f0.2) + 1), 0))) * (length(tag_values_f0.3) + 1) + toUInt64(transform(env_id, tag_values_f0.3, range(1, length(tag_values_f0.3) + 1), 0))) * (length(tag_values_f0.4) + 1) + toUInt64(transform(resource_id, tag_values_f0.4, range(1, length(tag_values_f0.4) + 1), 0))) * (length(tag_values_f0.5) + 1) + toUInt64(transform(product_category, tag_values_f0.5, range(1, length(tag_values_f0.5) + 1), 0))) * (length(tag_values_f0.6) + 1) + toUInt64(transform(product_type, tag_values_f0.6, range(1, length(tag_values_f0.6) + 1), 0))) * (length(tag_values_f0.7) + 1) + toUInt64(transform(identity_id, tag_values_f0.7, range(1, length(tag_values_f0.7) + 1), 0))) * (length(tag_values_f0.8) + 1) + toUInt64(transform(cost_type, tag_values_f0.8, range(1, length(tag_values_f0.8) + 1), 0)), tag_places_f0.1, tag_places_f0.2, toUInt32(indexOf(tag_values_f0.9, 'UNTAGGED')))) AND has(arrayFilter(place -> has({tag_names_1:Array(String)}, tag_values_f1.9[place]), arrayEnumerate(tag_values_f1.9)), transform((((((((toUInt64(transform(ecosystem, tag_values_f1.1, range(1, length(tag_values_f1.1) + 1), 0))) * (length(tag_values_f1.2) + 1) + toUInt64(transform(tenant_id, tag_values_f1.2, range(1, length(tag_values_f1.2) + 1), 0))) * (length(tag_values_f1.3) + 1) + toUInt64(transform(env_id, tag_values_f1.3, range(1, length(tag_values_f1.3) + 1), 0))) * (length(tag_values_f1.4) + 1) + toUInt64(transform(resource_id, tag_values_f1.4, range(1, length(tag_values_f1.4) + 1), 0))) * (length(tag_values_f1.5) + 1) + toUInt64(transform(product_category, tag_values_f1.5, range(1, length(tag_values_f1.5) + 1), 0))) * (length(tag_values_f1.6) + 1) + toUInt64(transform(product_type, tag_values_f1.6, range(1, length(tag_values_f1.6) + 1), 0))) * (length(tag_values_f1.7) + 1) + toUInt64(transform(identity_id, tag_values_f1.7, range(1, length(tag_values_f1.7) + 1), 0))) * (length(tag_values_f1.8) + 1) + toUInt64(transform(cost_type, tag_values_f1.8, range(1, length(tag_values_f1.8) + 1), 0)), tag_places_f1.1, tag_places_f1.2, toUInt32(indexOf(tag_values_f1.9, 'UNTAGGED')))) AND day >= {page_first:Date} AND day <= {page_last:Date}
    ORDER BY day, resource_id, product_type, env_id, product_category, timestamp, component, identity_id, amount_hi, amount_lo, cost_type, allocation_method, allocation_detail, metric, tier, component_ratio
    LIMIT {rows:UInt32} OFFSET {offset:UInt64}
  )
SELECT if(notEmpty(collided.1) AND has(collided.1, reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String)))), collided.2[indexOf(collided.1, reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String))))], bitAnd(reinterpretAsUInt64(reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String)))), 9007199254740991)) AS dimension_id, r.ecosystem AS ecosystem, r.tenant_id AS tenant_id, r.timestamp AS timestamp, r.resource_id AS resource_id, r.product_category AS product_category, r.product_type AS product_type, r.identity_id AS identity_id, r.cost_type AS cost_type,
  toString(r.amount_hi + r.amount_lo) AS amount, r.allocation_method AS allocation_method, r.allocation_detail AS allocation_detail, r.provisional AS provisional, concat(
  '{"component":', toString(r.component), ',"component_ratio":', toJSONString(toString(r.component_ratio)), ',"tier":', toString(r.tier),
  if(r.env_id = '', '', concat(',"env_id":', toJSONString(toString(r.env_id)))),
  multiIf(
    r.allocation_method = 'usage_ratio', concat(',"metric":', toJSONString(toString(r.metric)),
      if(measured.weight = 0, '', concat(',"weight":"', toString(toDecimal256(measured.weight, 6) / 1000000), '","total_weight":"', toString(toDecimal256(measured.total_weight, 6) / 1000000), '"'))),
    r.allocation_method = 'even_split', concat(',"weight":"1","total_weight":"', toString(divided.parts), '"'),
    ',"weight":"1","total_weight":"1"'
  ),
  '}') AS metadata,
  tuple(r.resource_id, r.product_type, r.env_id, r.product_category, toUnixTimestamp(r.timestamp), r.component, r.identity_id) AS order_values
FROM page AS r
LEFT JOIN (
  SELECT u.day AS day, u.resource_id AS resource_id, wanted.metrics AS metrics, u.identity_id AS identity_id,
    sum(u.micro_units) AS weight, sum(weight) OVER (PARTITION BY day, resource_id, metrics) AS total_weight
  FROM usage AS u
  INNER JOIN (
    SELECT DISTINCT day, resource_id, toString(metric) AS metrics, arrayJoin(splitByChar('+', toString(metric))) AS one_metric
    FROM page WHERE allocation_method = 'usage_ratio'
  ) AS wanted ON u.day = wanted.day AND u.resource_id = wanted.resource_id AND u.metric = wanted.one_metric
  WHERE u.micro_units > 0 AND (u.day, u.metric, u.resource_id) IN (
    SELECT day, arrayJoin(splitByChar('+', toString(metric))), resource_id FROM page WHERE allocation_method = 'usage_ratio'
  )
  GROUP BY day, resource_id, metrics, identity_id
) AS measured ON measured.day = r.day AND measured.resource_id = r.resource_id AND measured.metrics = r.metric
  AND measured.identity_id = r.identity_id
LEFT JOIN (
  SELECT day, resource_id, product_type, env_id, product_category, timestamp, component, count() AS parts FROM chargebacks
  WHERE (day, resource_id, product_type) IN (
    SELECT day, resource_id, product_type FROM page WHERE allocation_method = 'even_split'
  )
  GROUP BY day, resource_id, product_type, env_id, product_category, timestamp, component
) AS divided ON divided.day = r.day AND divided.resource_id = r.resource_id AND divided.product_type = r.product_type AND divided.env_id = r.env_id AND divided.product_category = r.product_category AND divided.timestamp = r.timestamp AND divided.component = r.component
ORDER BY r.day, r.resource_id, r.product_type, r.env_id, r.product_category, r.timestamp, r.component, r.identity_id, r.amount_hi, r.amount_lo, r.cost_type, r.allocation_method, r.allocation_detail, r.metric, r.tier, r.component_ratio

-- {"first_day":"2026-03-01","last_day":"2026-03-05","page_first":"2026-03-01","page_last":"2026-03-02","rows":100,"offset":7}
WITH
  (SELECT (groupArray(fingerprint), groupArray(dimension_id)) FROM dimension_collisions FINAL) AS collided,
  page AS (
    SELECT day, timestamp, env_id, resource_id, product_category, product_type, identity_id, allocation_method, component, component_ratio, tier, metric, ecosystem, tenant_id, cost_type, allocation_detail, provisional, amount_hi, amount_lo
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND day >= {page_first:Date} AND day <= {page_last:Date}
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

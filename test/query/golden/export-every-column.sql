-- {"first_day":"2026-03-01","last_day":"2026-03-05","span_first":"2026-03-01","span_last":"2026-03-01"}
WITH
  (
    SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities
  ) AS known_identities,
  (
    SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources
  ) AS known_resources,
  (SELECT (groupArray(fingerprint), groupArray(dimension_id)) FROM dimension_collisions FINAL) AS collided,
  (
    SELECT (groupArray(dimension_id), groupArray(if(match(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), names), ';'), '[",\\n\\r]|^[=+@\\t-]'), if(match(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), names), ';'), '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), names), ';')), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), names), ';')), '^[=+@\\t\\r-]', '\'\\0')), arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), names), ';'))), groupArray(if(match(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), pairs), ';'), '[",\\n\\r]|^[=+@\\t-]'), if(match(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), pairs), ';'), '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), pairs), ';')), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), pairs), ';')), '^[=+@\\t\\r-]', '\'\\0')), arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), pairs), ';')))) FROM (
      SELECT dimension_id, arrayMap(tag -> tag.3, sorted) AS names, arrayMap(tag -> concat(replaceRegexpAll(tag.2, '[\\\\=]', '\\\\\\0'), '=', tag.3), sorted) AS pairs
      FROM (
        SELECT dimension_id, arraySort(groupArray((tag_id, toString(tag_key), display_name))) AS sorted
        FROM dimension_tags FINAL
        GROUP BY dimension_id
      )
    )
  ) AS tagged,
  rows AS (SELECT * FROM chargebacks WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND day >= {span_first:Date} AND day <= {span_last:Date})
SELECT
  r.timestamp AS cell_0,
  if(match(r.ecosystem, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.ecosystem, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.ecosystem), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.ecosystem), '^[=+@\\t\\r-]', '\'\\0')), r.ecosystem) AS cell_1,
  if(match(r.tenant_id, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.tenant_id, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.tenant_id), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.tenant_id), '^[=+@\\t\\r-]', '\'\\0')), r.tenant_id) AS cell_2,
  if(match(r.resource_id, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.resource_id, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.resource_id), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.resource_id), '^[=+@\\t\\r-]', '\'\\0')), r.resource_id) AS cell_3,
  if(match(r.product_category, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.product_category, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.product_category), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.product_category), '^[=+@\\t\\r-]', '\'\\0')), r.product_category) AS cell_4,
  if(match(r.product_type, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.product_type, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.product_type), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.product_type), '^[=+@\\t\\r-]', '\'\\0')), r.product_type) AS cell_5,
  if(match(r.currency, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.currency, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.currency), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.currency), '^[=+@\\t\\r-]', '\'\\0')), r.currency) AS cell_6,
  if(match(r.charge_category, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.charge_category, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.charge_category), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.charge_category), '^[=+@\\t\\r-]', '\'\\0')), r.charge_category) AS cell_7,
  if(match(r.service_provider, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.service_provider, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.service_provider), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.service_provider), '^[=+@\\t\\r-]', '\'\\0')), r.service_provider) AS cell_8,
  if(match(r.account_id, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.account_id, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.account_id), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.account_id), '^[=+@\\t\\r-]', '\'\\0')), r.account_id) AS cell_9,
  if(match(r.region_id, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.region_id, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.region_id), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.region_id), '^[=+@\\t\\r-]', '\'\\0')), r.region_id) AS cell_10,
  if(match(r.sku_id, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.sku_id, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.sku_id), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.sku_id), '^[=+@\\t\\r-]', '\'\\0')), r.sku_id) AS cell_11,
  concat('"', replaceAll(toJSONString(r.line_tags), '"', '""'), '"') AS cell_12,
  if(match(r.rule, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.rule, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.rule), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.rule), '^[=+@\\t\\r-]', '\'\\0')), r.rule) AS cell_13,
  if(match(r.identity_id, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.identity_id, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.identity_id), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.identity_id), '^[=+@\\t\\r-]', '\'\\0')), r.identity_id) AS cell_14,
  if(match(r.cost_type, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.cost_type, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.cost_type), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.cost_type), '^[=+@\\t\\r-]', '\'\\0')), r.cost_type) AS cell_15,
  if(match(r.allocation_method, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.allocation_method, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.allocation_method), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.allocation_method), '^[=+@\\t\\r-]', '\'\\0')), r.allocation_method) AS cell_16,
  if(match(r.allocation_detail, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.allocation_detail, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.allocation_detail), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.allocation_detail), '^[=+@\\t\\r-]', '\'\\0')), r.allocation_detail) AS cell_17,
  r.provisional AS cell_18,
  if(notEmpty(collided.1) AND has(collided.1, reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String)))), collided.2[indexOf(collided.1, reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String))))], bitAnd(reinterpretAsUInt64(reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String)))), 9007199254740991)) AS cell_19,
  r.amount_hi + r.amount_lo AS cell_20,
  if(r.identity_id IN (SELECT identity_id FROM dimensions WHERE dimension_id IN (SELECT dimension_id FROM dimension_tags FINAL)) AND r.resource_id IN (SELECT resource_id FROM dimensions WHERE dimension_id IN (SELECT dimension_id FROM dimension_tags FINAL)), transform(if(notEmpty(collided.1) AND has(collided.1, reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String)))), collided.2[indexOf(collided.1, reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String))))], bitAnd(reinterpretAsUInt64(reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String)))), 9007199254740991)), tagged.1, tagged.2, ''), '') AS cell_21,
  concat('"', replaceAll(concat(
  '{"component":', toString(r.component), ',"component_ratio":', toJSONString(toString(r.component_ratio)), ',"tier":', toString(r.tier),
  if(r.env_id = '', '', concat(',"env_id":', toJSONString(toString(r.env_id)))),
  multiIf(
    r.allocation_method = 'usage_ratio', concat(',"metric":', toJSONString(toString(r.metric)),
      if(measured.weight = 0, '', concat(',"weight":"', if(measured.scale = 0, toString(toDecimal256(measured.weight, 6) / 1000000), replaceRegexpOne(concat(substring(leftPad(toString(measured.weight), 7 + toInt32(measured.scale), '0'), 1, length(leftPad(toString(measured.weight), 7 + toInt32(measured.scale), '0')) - (6 + toInt32(measured.scale))), '.', substring(leftPad(toString(measured.weight), 7 + toInt32(measured.scale), '0'), length(leftPad(toString(measured.weight), 7 + toInt32(measured.scale), '0')) - (6 + toInt32(measured.scale)) + 1)), '\\.?0+$', '')), '","total_weight":"', if(measured.scale = 0, toString(toDecimal256(measured.total_weight, 6) / 1000000), replaceRegexpOne(concat(substring(leftPad(toString(measured.total_weight), 7 + toInt32(measured.scale), '0'), 1, length(leftPad(toString(measured.total_weight), 7 + toInt32(measured.scale), '0')) - (6 + toInt32(measured.scale))), '.', substring(leftPad(toString(measured.total_weight), 7 + toInt32(measured.scale), '0'), length(leftPad(toString(measured.total_weight), 7 + toInt32(measured.scale), '0')) - (6 + toInt32(measured.scale)) + 1)), '\\.?0+$', '')), '"'))),
    r.allocation_method IN ('cost_ratio', 'fixed_ratio'), concat(',"metric":', toJSONString(toString(r.metric))),
    r.allocation_method = 'even_split', concat(',"weight":"1","total_weight":"', toString(divided.parts), '"'),
    ',"weight":"1","total_weight":"1"'
  ),
  '}'), '"', '""'), '"') AS cell_22,
  if(r.identity_id IN (SELECT identity_id FROM dimensions WHERE dimension_id IN (SELECT dimension_id FROM dimension_tags FINAL)) AND r.resource_id IN (SELECT resource_id FROM dimensions WHERE dimension_id IN (SELECT dimension_id FROM dimension_tags FINAL)), transform(if(notEmpty(collided.1) AND has(collided.1, reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String)))), collided.2[indexOf(collided.1, reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String))))], bitAnd(reinterpretAsUInt64(reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String)))), 9007199254740991)), tagged.1, tagged.3, ''), '') AS cell_23,
  if(match(transform(r.identity_id, known_identities.1, known_identities.2, ''), '[",\\n\\r]|^[=+@\\t-]'), if(match(transform(r.identity_id, known_identities.1, known_identities.2, ''), '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(transform(r.identity_id, known_identities.1, known_identities.2, '')), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(transform(r.identity_id, known_identities.1, known_identities.2, '')), '^[=+@\\t\\r-]', '\'\\0')), transform(r.identity_id, known_identities.1, known_identities.2, '')) AS cell_24,
  if(match(transform(r.identity_id, known_identities.1, known_identities.3, ''), '[",\\n\\r]|^[=+@\\t-]'), if(match(transform(r.identity_id, known_identities.1, known_identities.3, ''), '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(transform(r.identity_id, known_identities.1, known_identities.3, '')), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(transform(r.identity_id, known_identities.1, known_identities.3, '')), '^[=+@\\t\\r-]', '\'\\0')), transform(r.identity_id, known_identities.1, known_identities.3, '')) AS cell_25,
  if(match(transform(r.identity_id, known_identities.1, known_identities.4, 'UNASSIGNED'), '[",\\n\\r]|^[=+@\\t-]'), if(match(transform(r.identity_id, known_identities.1, known_identities.4, 'UNASSIGNED'), '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(transform(r.identity_id, known_identities.1, known_identities.4, 'UNASSIGNED')), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(transform(r.identity_id, known_identities.1, known_identities.4, 'UNASSIGNED')), '^[=+@\\t\\r-]', '\'\\0')), transform(r.identity_id, known_identities.1, known_identities.4, 'UNASSIGNED')) AS cell_26,
  if(match(transform(r.resource_id, known_resources.1, known_resources.2, ''), '[",\\n\\r]|^[=+@\\t-]'), if(match(transform(r.resource_id, known_resources.1, known_resources.2, ''), '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(transform(r.resource_id, known_resources.1, known_resources.2, '')), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(transform(r.resource_id, known_resources.1, known_resources.2, '')), '^[=+@\\t\\r-]', '\'\\0')), transform(r.resource_id, known_resources.1, known_resources.2, '')) AS cell_27,
  if(match(transform(r.resource_id, known_resources.1, known_resources.3, ''), '[",\\n\\r]|^[=+@\\t-]'), if(match(transform(r.resource_id, known_resources.1, known_resources.3, ''), '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(transform(r.resource_id, known_resources.1, known_resources.3, '')), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(transform(r.resource_id, known_resources.1, known_resources.3, '')), '^[=+@\\t\\r-]', '\'\\0')), transform(r.resource_id, known_resources.1, known_resources.3, '')) AS cell_28
FROM rows AS r
LEFT JOIN (
  SELECT u.day AS day, u.resource_id AS resource_id, wanted.metrics AS metrics, u.identity_id AS identity_id,
    sum(u.own_usage) AS weight, sum(weight) OVER (PARTITION BY day, resource_id, metrics) AS total_weight, max(scaled.scale) AS scale
  FROM (
    SELECT day, metric, resource_id, identity_id, sum(micro_units) AS own_usage FROM usage
    WHERE (day, metric, resource_id) IN (
      SELECT day, arrayJoin(splitByChar('+', toString(metric))), resource_id FROM rows WHERE allocation_method = 'usage_ratio'
    )
    GROUP BY day, metric, resource_id, identity_id
  ) AS u
  INNER JOIN (
    SELECT DISTINCT day, resource_id, toString(metric) AS metrics, arrayJoin(splitByChar('+', toString(metric))) AS one_metric
    FROM rows WHERE allocation_method = 'usage_ratio'
  ) AS wanted ON u.day = wanted.day AND u.resource_id = wanted.resource_id AND u.metric = wanted.one_metric
  LEFT JOIN (
    SELECT day, metric, resource_id, max(usage.scale) AS scale FROM usage
    WHERE usage.scale != 0 AND (day, resource_id) IN (SELECT day, resource_id FROM rows WHERE allocation_method = 'usage_ratio')
    GROUP BY day, metric, resource_id
  ) AS scaled ON scaled.day = u.day AND scaled.resource_id = u.resource_id AND scaled.metric = u.metric
  GROUP BY day, resource_id, metrics, identity_id
) AS measured ON measured.day = r.day AND measured.resource_id = r.resource_id AND measured.metrics = r.metric
  AND measured.identity_id = r.identity_id
LEFT JOIN (
  SELECT day, timestamp, env_id, resource_id, product_category, product_type, currency, line_id, component, count() AS parts FROM chargebacks
  WHERE (day, resource_id, product_type) IN (
    SELECT day, resource_id, product_type FROM rows WHERE allocation_method = 'even_split'
  )
  GROUP BY day, timestamp, env_id, resource_id, product_category, product_type, currency, line_id, component
) AS divided ON divided.day = r.day AND divided.timestamp = r.timestamp AND divided.env_id = r.env_id AND divided.resource_id = r.resource_id AND divided.product_category = r.product_category AND divided.product_type = r.product_type AND divided.currency = r.currency AND divided.line_id = r.line_id AND divided.component = r.component
ORDER BY r.day, r.resource_id, r.product_type, r.env_id, r.product_category, r.timestamp, r.component, r.identity_id, r.currency
FORMAT CustomSeparated

-- {"first_day":"2026-03-01","last_day":"2026-03-05","span_first":"2026-03-01","span_last":"2026-03-02"}
WITH
  (SELECT (groupArray(fingerprint), groupArray(dimension_id)) FROM dimension_collisions FINAL) AS collided,
  (
    SELECT (groupArray(dimension_id), groupArray(if(match(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), names), ';'), '[",\\n\\r]|^[=+@\\t-]'), if(match(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), names), ';'), '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), names), ';')), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), names), ';')), '^[=+@\\t\\r-]', '\'\\0')), arrayStringConcat(arrayMap(name -> replaceAll(replaceAll(name, '\\', '\\\\'), ';', '\\;'), names), ';'))), groupArray('')) FROM (
      SELECT dimension_id, arrayMap(tag -> tag.3, sorted) AS names, arrayMap(tag -> concat(replaceRegexpAll(tag.2, '[\\\\=]', '\\\\\\0'), '=', tag.3), sorted) AS pairs
      FROM (
        SELECT dimension_id, arraySort(groupArray((tag_id, toString(tag_key), display_name))) AS sorted
        FROM dimension_tags FINAL
        GROUP BY dimension_id
      )
    )
  ) AS tagged
SELECT
  r.timestamp AS cell_0,
  if(match(r.resource_id, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.resource_id, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.resource_id), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.resource_id), '^[=+@\\t\\r-]', '\'\\0')), r.resource_id) AS cell_1,
  if(match(r.product_category, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.product_category, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.product_category), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.product_category), '^[=+@\\t\\r-]', '\'\\0')), r.product_category) AS cell_2,
  if(match(r.product_type, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.product_type, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.product_type), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.product_type), '^[=+@\\t\\r-]', '\'\\0')), r.product_type) AS cell_3,
  if(match(r.identity_id, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.identity_id, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.identity_id), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.identity_id), '^[=+@\\t\\r-]', '\'\\0')), r.identity_id) AS cell_4,
  if(match(r.cost_type, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.cost_type, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.cost_type), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.cost_type), '^[=+@\\t\\r-]', '\'\\0')), r.cost_type) AS cell_5,
  r.amount_hi + r.amount_lo AS cell_6,
  if(match(r.allocation_method, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.allocation_method, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.allocation_method), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.allocation_method), '^[=+@\\t\\r-]', '\'\\0')), r.allocation_method) AS cell_7,
  if(r.identity_id IN (SELECT identity_id FROM dimensions WHERE dimension_id IN (SELECT dimension_id FROM dimension_tags FINAL)) AND r.resource_id IN (SELECT resource_id FROM dimensions WHERE dimension_id IN (SELECT dimension_id FROM dimension_tags FINAL)), transform(if(notEmpty(collided.1) AND has(collided.1, reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String)))), collided.2[indexOf(collided.1, reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String))))], bitAnd(reinterpretAsUInt64(reinterpretAsUInt128(sipHash128(CAST(r.ecosystem AS String), CAST(r.tenant_id AS String), CAST(r.env_id AS String), CAST(r.resource_id AS String), CAST(r.product_category AS String), CAST(r.product_type AS String), CAST(r.identity_id AS String), CAST(r.cost_type AS String)))), 9007199254740991)), tagged.1, tagged.2, ''), '') AS cell_8
FROM chargebacks AS r
WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND day >= {span_first:Date} AND day <= {span_last:Date}
ORDER BY r.day, r.resource_id, r.product_type, r.env_id, r.product_category, r.timestamp, r.component, r.identity_id, r.currency
FORMAT CustomSeparated

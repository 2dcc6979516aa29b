-- {"first_day":"2026-03-01","last_day":"2026-03-05","span_first":"2026-03-01","span_last":"2026-03-02"}
SELECT
  r.timestamp AS cell_0,
  if(match(r.resource_id, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.resource_id, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.resource_id), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.resource_id), '^[=+@\\t\\r-]', '\'\\0')), r.resource_id) AS cell_1,
  if(match(r.product_category, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.product_category, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.product_category), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.product_category), '^[=+@\\t\\r-]', '\'\\0')), r.product_category) AS cell_2,
  if(match(r.product_type, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.product_type, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.product_type), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.product_type), '^[=+@\\t\\r-]', '\'\\0')), r.product_type) AS cell_3,
  if(match(r.identity_id, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.identity_id, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.identity_id), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.identity_id), '^[=+@\\t\\r-]', '\'\\0')), r.identity_id) AS cell_4,
  if(match(r.cost_type, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.cost_type, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.cost_type), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.cost_type), '^[=+@\\t\\r-]', '\'\\0')), r.cost_type) AS cell_5,
  r.amount_hi + r.amount_lo AS cell_6,
  if(match(r.allocation_method, '[",\\n\\r]|^[=+@\\t-]'), if(match(r.allocation_method, '[",\\n\\r]'), concat('"', replaceAll(replaceRegexpOne(toString(r.allocation_method), '^[=+@\\t\\r-]', '\'\\0'), '"', '""'), '"'), replaceRegexpOne(toString(r.allocation_method), '^[=+@\\t\\r-]', '\'\\0')), r.allocation_method) AS cell_7,
  '' AS cell_8
FROM chargebacks AS r
WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND day >= {span_first:Date} AND day <= {span_last:Date}
ORDER BY r.day, r.resource_id, r.product_type, r.env_id, r.product_category, r.timestamp, r.component, r.identity_id, r.currency
FORMAT CustomSeparated

-- {"first_day":"2026-03-01","last_day":"2026-03-05","span_first":"2026-03-01","span_last":"2026-03-02"}
SELECT
  r.timestamp AS cell_0,
  if(match(r.identity_id, '[",\\n\\r]'), if(match(r.identity_id, '[",\\n\\r]'), concat('"', replaceAll(toString(r.identity_id), '"', '""'), '"'), toString(r.identity_id)), r.identity_id) AS cell_1
FROM chargebacks AS r
WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND day >= {span_first:Date} AND day <= {span_last:Date}
ORDER BY r.day, r.resource_id, r.product_type, r.env_id, r.product_category, r.timestamp, r.component, r.identity_id, r.currency
FORMAT CustomSeparated

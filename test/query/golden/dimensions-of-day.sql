-- {"day":"2026-03-01","rows":20,"offset":0}
WITH
  (SELECT (groupArray(fingerprint), groupArray(dimension_id)) FROM dimension_collisions FINAL) AS collided
SELECT if(notEmpty(collided.1) AND has(collided.1, reinterpretAsUInt128(sipHash128(CAST(ecosystem AS String), CAST(tenant_id AS String), CAST(env_id AS String), CAST(resource_id AS String), CAST(product_category AS String), CAST(product_type AS String), CAST(identity_id AS String), CAST(cost_type AS String)))), collided.2[indexOf(collided.1, reinterpretAsUInt128(sipHash128(CAST(ecosystem AS String), CAST(tenant_id AS String), CAST(env_id AS String), CAST(resource_id AS String), CAST(product_category AS String), CAST(product_type AS String), CAST(identity_id AS String), CAST(cost_type AS String))))], bitAnd(reinterpretAsUInt64(reinterpretAsUInt128(sipHash128(CAST(ecosystem AS String), CAST(tenant_id AS String), CAST(env_id AS String), CAST(resource_id AS String), CAST(product_category AS String), CAST(product_type AS String), CAST(identity_id AS String), CAST(cost_type AS String)))), 9007199254740991)) AS dimension_id, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type, currency, toString(cost) AS amount,
  toUInt32(uniqExact(dimension_id) OVER ()) AS dimensions, toUInt32(count() OVER ()) AS total
FROM (
  SELECT ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type, currency, sum(amount_hi) + sum(amount_lo) AS cost
  FROM chargebacks
  WHERE day = {day:Date}
  GROUP BY ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type, currency
)
ORDER BY abs(cost) DESC, dimension_id, currency
LIMIT {rows:UInt32} OFFSET {offset:UInt64}

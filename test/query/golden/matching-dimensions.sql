-- {"first_day":"2026-03-01","last_day":"2026-03-05"}
WITH
  (SELECT (groupArray(fingerprint), groupArray(dimension_id)) FROM dimension_collisions FINAL) AS collided
SELECT if(notEmpty(collided.1) AND has(collided.1, reinterpretAsUInt128(sipHash128(CAST(ecosystem AS String), CAST(tenant_id AS String), CAST(env_id AS String), CAST(resource_id AS String), CAST(product_category AS String), CAST(product_type AS String), CAST(identity_id AS String), CAST(cost_type AS String)))), collided.2[indexOf(collided.1, reinterpretAsUInt128(sipHash128(CAST(ecosystem AS String), CAST(tenant_id AS String), CAST(env_id AS String), CAST(resource_id AS String), CAST(product_category AS String), CAST(product_type AS String), CAST(identity_id AS String), CAST(cost_type AS String))))], bitAnd(reinterpretAsUInt64(reinterpretAsUInt128(sipHash128(CAST(ecosystem AS String), CAST(tenant_id AS String), CAST(env_id AS String), CAST(resource_id AS String), CAST(product_category AS String), CAST(product_type AS String), CAST(identity_id AS String), CAST(cost_type AS String)))), 9007199254740991)) AS dimension_id
FROM (
  SELECT ecosystem, tenant_id, env_id, resource_id, product_category, product_type, cost_type, arrayJoin(identities) AS identity_id
  FROM (
    SELECT ecosystem, tenant_id, env_id, resource_id, product_category, product_type, cost_type, groupUniqArray(identity_id) AS identities
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date}
    GROUP BY ecosystem, tenant_id, env_id, resource_id, product_category, product_type, cost_type
  )
)
ORDER BY dimension_id

-- {"splits":[{"values":["2026-03-01","r-1","STORAGE","env-1","KAFKA","2026-03-01 00:00:00","USD",0]}]}
SELECT day, resource_id, product_type, env_id, product_category, timestamp, currency, component, toString(count()) AS parts
FROM chargebacks
WHERE (day, resource_id, product_type, env_id, product_category, timestamp, currency, component) IN {splits:Array(Tuple(Date, String, String, String, String, DateTime('UTC'), String, UInt8))}
GROUP BY day, resource_id, product_type, env_id, product_category, timestamp, currency, component

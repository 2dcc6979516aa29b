-- {"splits":[{"values":["2026-03-01","2026-03-01 00:00:00","env-1","r-1","KAFKA","STORAGE","USD",0,0]}]}
SELECT day, timestamp, env_id, resource_id, product_category, product_type, currency, line_id, component, toString(count()) AS parts
FROM chargebacks
WHERE (day, timestamp, env_id, resource_id, product_category, product_type, currency, line_id, component) IN {splits:Array(Tuple(Date, DateTime('UTC'), String, String, String, String, String, UInt64, UInt8))}
GROUP BY day, timestamp, env_id, resource_id, product_category, product_type, currency, line_id, component

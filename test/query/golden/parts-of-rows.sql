-- {"splits":[{"values":["2026-03-01","r-1","STORAGE","env-1","KAFKA","2026-03-01 00:00:00",0]}]}
SELECT day, resource_id, product_type, env_id, product_category, timestamp, component, toString(count()) AS parts
FROM chargebacks
WHERE (day, resource_id, product_type, env_id, product_category, timestamp, component) IN {splits:Array(Tuple(Date, String, String, String, String, DateTime('UTC'), UInt8))}
GROUP BY day, resource_id, product_type, env_id, product_category, timestamp, component

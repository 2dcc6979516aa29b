-- {"splits":[{"values":["2026-03-01","2026-03-01 00:00:00","env-1","r-1","KAFKA","STORAGE","USD",0,0]}],"days":["2026-03-01"],"resources":["r-1"],"products":["STORAGE"]}
SELECT day, timestamp, env_id, resource_id, product_category, product_type, currency, line_id, component, toString(uniqExact(if(arrayFirst(h -> h.1 >= 0, passed_path).1 = 0, toString(identity_id), toString(arrayFirst(h -> h.1 >= 0, passed_path).2)))) AS parts
FROM chargebacks
WHERE indexHint((day, timestamp, env_id, resource_id, product_category, product_type, currency, line_id, component) IN {splits:Array(Tuple(Date, DateTime('UTC'), String, String, String, String, String, UInt64, UInt8))}) AND day IN {days:Array(Date)} AND resource_id IN {resources:Array(String)} AND product_type IN {products:Array(String)}
GROUP BY day, timestamp, env_id, resource_id, product_category, product_type, currency, line_id, component
HAVING (day, timestamp, env_id, resource_id, product_category, product_type, currency, line_id, component) IN {splits:Array(Tuple(Date, DateTime('UTC'), String, String, String, String, String, UInt64, UInt8))}

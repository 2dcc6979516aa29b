-- {"day":"2026-03-01","env_id":"","resource_id":"r-1","product_category":"KAFKA","product_type":"STORAGE"}
SELECT timestamp, currency, line_id, any(granularity) AS granularity, toString(sum(quantity)) AS quantity,
  if(uniqExact(unit_price) = 1, toString(any(unit_price)), '') AS unit_price, toString(sum(total_cost)) AS total_cost, count() AS bill_lines,
  [toString(xxHash64(concat(toString(day), '\n', toString(toUnixTimestamp(timestamp)), '\n', toString(env_id), '\n', toString(resource_id), '\n', toString(product_category), '\n', toString(product_type), '\n', toString(currency), '\n', toString(line_id), '\ncomponents'))),
    toString(xxHash64(concat(toString(day), '\n', toString(toUnixTimestamp(timestamp)), '\n', toString(env_id), '\n', toString(resource_id), '\n', toString(product_category), '\n', toString(product_type), '\n', toString(currency), '\n', toString(line_id), '\nrecipients'))),
    toString(xxHash64(concat(toString(day), '\n', toString(toUnixTimestamp(timestamp)), '\n', toString(env_id), '\n', toString(resource_id), '\n', toString(product_category), '\n', toString(product_type), '\n', toString(currency), '\n', toString(line_id), '\nresidue component'))),
    toString(xxHash64(concat(toString(day), '\n', toString(toUnixTimestamp(timestamp)), '\n', toString(env_id), '\n', toString(resource_id), '\n', toString(product_category), '\n', toString(product_type), '\n', toString(currency), '\n', toString(line_id), '\nresidue recipient')))] AS hashes
FROM published_billing
WHERE day = {day:Date} AND env_id = {env_id:String} AND resource_id = {resource_id:String} AND product_category = {product_category:String} AND product_type = {product_type:String}
GROUP BY day, timestamp, env_id, resource_id, product_category, product_type, currency, line_id
ORDER BY timestamp, currency, line_id

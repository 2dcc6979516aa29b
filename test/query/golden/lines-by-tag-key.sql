-- {"first_day":"2026-03-01","last_day":"2026-03-05","most":100}
SELECT currency, tag_key, toUInt64(count() OVER (PARTITION BY currency)) AS tag_keys, toUInt64(sum(n)) AS lines, toString(sum(cost)) AS net, toString(sum(size)) AS gross
FROM (
  SELECT toString(currency) AS currency, toString(product_type) AS product, mapKeys(line_tags) AS keys, count() AS n, sum(total_cost) AS cost,
    sum(abs(total_cost)) AS size
  FROM published_billing WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY currency, product, keys) ARRAY JOIN keys AS tag_key
GROUP BY currency, tag_key
ORDER BY currency, sum(size) DESC, tag_key
LIMIT {most:UInt32} BY currency

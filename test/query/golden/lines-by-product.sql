-- {"first_day":"2026-03-01","last_day":"2026-03-05","most":25}
SELECT currency, if(is_rest, '', product) AS product_type, is_rest, toUInt64(sum(n)) AS lines, toString(sum(cost)) AS net, toString(sum(size)) AS gross
FROM (
  SELECT *, min(place) OVER (PARTITION BY product) > {most:UInt32} AS is_rest
  FROM (
    SELECT *, row_number() OVER (PARTITION BY currency ORDER BY size DESC, product) AS place
    FROM (
      SELECT currency, product, sum(n) AS n, sum(cost) AS cost, sum(size) AS size FROM (
  SELECT toString(currency) AS currency, toString(product_type) AS product, mapKeys(line_tags) AS keys, count() AS n, sum(total_cost) AS cost,
    sum(abs(total_cost)) AS size
  FROM published_billing WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY currency, product, keys) GROUP BY currency, product
    )
  )
)
GROUP BY currency, product_type, is_rest
ORDER BY currency, is_rest, sum(size) DESC, product_type

-- {"first_day":"2026-03-01","last_day":"2026-03-05","most":500}
SELECT rule, if(is_rest, '', product_type) AS product_type, currency, is_rest, if(is_rest, uniqExact(product), 0) AS product_types,
  sum(taken) AS lines, toString(sum(cost)) AS amount
FROM (
  SELECT *, rule = '' AND min(place) OVER (PARTITION BY rule, product) > {most:UInt32} AS is_rest, product AS product_type
  FROM (
    SELECT *, row_number() OVER (PARTITION BY rule, currency ORDER BY abs(cost) DESC, product) AS place
    FROM (
      SELECT toString(rule) AS rule, if(rule = '', toString(product_type), '') AS product, toString(currency) AS currency,
        count() AS taken, sum(total_cost) AS cost
      FROM published_billing WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY rule, product, currency
    )
  )
)
GROUP BY rule, product_type, currency, is_rest
ORDER BY is_rest, currency, abs(sum(cost)) DESC, rule, product_type

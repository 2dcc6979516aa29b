-- {"first_day":"2026-03-01","last_day":"2026-03-05","product_types":["STORAGE"]}
SELECT toString(rule) AS rule, if(rule = '', toString(chargebacks.product_type), '') AS product_type, toString(currency) AS currency, component,
  if(passed_from = '', toUInt8(chargebacks.tier), toUInt8(passed_path.tier[1])) AS tier, if(passed_from = '', toString(chargebacks.allocation_method), toString(passed_path.allocation_method[1])) AS allocation_method,
  if(passed_from = '', toString(chargebacks.allocation_detail), toString(passed_path.allocation_detail[1])) AS allocation_detail, count() AS rows,
  toString(sum(amount_hi) + sum(amount_lo)) AS amount
FROM chargebacks
WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND (chargebacks.rule != '' OR chargebacks.product_type IN {product_types:Array(String)})
GROUP BY ALL
ORDER BY currency, rule, product_type, component, tier, allocation_method, allocation_detail

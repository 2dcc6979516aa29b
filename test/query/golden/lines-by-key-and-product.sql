-- {"first_day":"2026-03-01","last_day":"2026-03-05","tag_keys":["team"],"product_types":["STORAGE"]}
SELECT currency, tag_key, if(is_rest, '', product) AS product_type, NOT has({product_types:Array(String)}, product) AS is_rest, toUInt64(sum(n)) AS lines, toString(sum(cost)) AS net, toString(sum(size)) AS gross
FROM (
  SELECT toString(currency) AS currency, toString(product_type) AS product, mapKeys(line_tags) AS keys, count() AS n, sum(total_cost) AS cost,
    sum(abs(total_cost)) AS size
  FROM published_billing WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY currency, product, keys) ARRAY JOIN arrayFilter(key -> has({tag_keys:Array(String)}, key), keys) AS tag_key
GROUP BY currency, tag_key, product_type, is_rest

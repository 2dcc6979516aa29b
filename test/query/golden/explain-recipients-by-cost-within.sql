-- {"split_day":"2026-03-01","split_timestamp":"2026-03-01 00:00:00","split_env_id":"","split_resource_id":"r-1","split_product_category":"KAFKA","split_product_type":"STORAGE","split_currency":"EUR","split_line_id":0,"day":"2026-03-01","sources":["cost:1"],"tick":"100000000","ticks":"100000","residue":"50000000","identity_id":"sa-1","offset":100,"limit":100}
SELECT who AS identity_id, weight, whole AS whole_ticks, remainder, remainder_rank, place, recipients, total AS total_weight,
  total_whole AS total_whole_ticks, digest
FROM (
  SELECT who, weight, whole, remainder, remainder_rank, place, recipients, total, total_whole, sum(cityHash64(who) * ((whole + (remainder_rank <= {ticks:Int256} - total_whole)) * {tick:Int256} + (place = 1) * {residue:Int256})) OVER () AS digest
  FROM (
    SELECT who, weight, recipients, total, {ticks:Int256} * weight AS product, intDiv(product, total) AS whole, product - whole * total AS remainder,
      sum(whole) OVER () AS total_whole, row_number() OVER (ORDER BY remainder DESC, who) AS remainder_rank,
      row_number() OVER (ORDER BY weight DESC, who) AS place
    FROM (
      SELECT who, weight, count() OVER () AS recipients, sum(weight) OVER () AS total
      FROM (
    SELECT toString(identity_id) AS who, toInt256(sum(micro_units)) AS weight FROM usage
    WHERE day = {day:Date} AND metric IN {sources:Array(String)} AND resource_id = (SELECT any(concat(toString(currency), ':', toString(line_tags['cluster']))) FROM published_billing WHERE day = {split_day:Date} AND timestamp = {split_timestamp:DateTime('UTC')} AND env_id = {split_env_id:String} AND resource_id = {split_resource_id:String} AND product_category = {split_product_category:String} AND product_type = {split_product_type:String} AND currency = {split_currency:String} AND line_id = {split_line_id:UInt64})
    GROUP BY identity_id HAVING weight > 0)
    )
  )
)
WHERE (place > {offset:UInt64} AND place <= {offset:UInt64} + {limit:UInt64}) OR who = {identity_id:String}
ORDER BY place

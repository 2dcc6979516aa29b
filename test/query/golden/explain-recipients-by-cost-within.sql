-- {"split_day":"2026-03-01","split_timestamp":"2026-03-01 00:00:00","split_env_id":"","split_resource_id":"r-1","split_product_category":"KAFKA","split_product_type":"STORAGE","split_currency":"EUR","split_line_id":0,"day":"2026-03-01","sources":["cost:1"],"split_component":0,"direction":"-1","tick":"100000000","ticks":"100000","residue":"50000000","identity_id":"sa-1","offset":100,"limit":100}
SELECT who AS identity_id, toString(weight) AS weight, toString(total) AS total_weight, recipients, toString(whole) AS whole_ticks,
  toString(remainder) AS remainder, remainder_rank, toString(missing) AS remaining_ticks, place, toString(amount) AS amount, differing
FROM (
  SELECT *, countIf(units != toInt256(reinterpret(amount, 'Int128'))) OVER () AS differing,
    {direction:Int8} * ((whole + (remainder_rank <= missing)) * {tick:Int256} + if(place = 1, {residue:Int256}, 0)) AS units
  FROM (
    SELECT *, {ticks:Int256} - sum(whole) OVER () AS missing,
      row_number() OVER (ORDER BY remainder DESC, who) AS remainder_rank, row_number() OVER (ORDER BY weight DESC, who) AS place
    FROM (
      SELECT *, sum(weight) OVER () AS total, count() OVER () AS recipients,
        intDiv({ticks:Int256} * weight, total) AS whole, {ticks:Int256} * weight - whole * total AS remainder
      FROM (
        SELECT who, weight, amount
        FROM (
    SELECT toString(identity_id) AS who, toInt256(sum(micro_units)) AS weight FROM usage
    WHERE day = {day:Date} AND metric IN {sources:Array(String)} AND resource_id = (SELECT any(concat(toString(currency), ':', toString(line_tags['cluster']))) FROM published_billing WHERE day = {split_day:Date} AND timestamp = {split_timestamp:DateTime('UTC')} AND env_id = {split_env_id:String} AND resource_id = {split_resource_id:String} AND product_category = {split_product_category:String} AND product_type = {split_product_type:String} AND currency = {split_currency:String} AND line_id = {split_line_id:UInt64})
    GROUP BY identity_id HAVING weight > 0) AS w
        LEFT JOIN (
          SELECT toString(identity_id) AS who, amount_hi + amount_lo AS amount FROM chargebacks WHERE day = {split_day:Date} AND timestamp = {split_timestamp:DateTime('UTC')} AND env_id = {split_env_id:String} AND resource_id = {split_resource_id:String} AND product_category = {split_product_category:String} AND product_type = {split_product_type:String} AND currency = {split_currency:String} AND line_id = {split_line_id:UInt64} AND component = {split_component:UInt8}
        ) AS p USING (who)
      )
    )
  )
)
WHERE (place > {offset:UInt64} AND place <= {offset:UInt64} + {limit:UInt64}) OR who = {identity_id:String}
ORDER BY place

-- {"split_day":"2026-03-01","split_timestamp":"2026-03-01 00:00:00","split_env_id":"","split_resource_id":"r-1","split_product_category":"KAFKA","split_product_type":"STORAGE","split_currency":"EUR","split_line_id":0,"day":"2026-03-01","sources":["cost:1"],"split_component":0,"direction":"-1","tick":"100000000","ticks":"100000","residue":"50000000","identity_id":"sa-1","offset":100,"limit":100}
SELECT who AS identity_id, toString(own_weight) AS weight, total_weight, recipients, toString(own_whole) AS whole_ticks,
  toString(own_remainder) AS remainder, remainder_rank, remaining_ticks, place, toString(own_amount) AS amount, differing
FROM (
  WITH
    arrayEnumerate(names) AS positions,
    arraySum(weights) AS total,
    {ticks:Int256} - arraySum(whole) AS missing,
    -- Names are in order: positions settle ties, within one number because tuples are compared several times slower.
    arrayReverseSort((i, r) -> r * length(names) - i, positions, remainders) AS by_remainder,
    arrayReverseSort((i, w) -> w * length(names) - i, positions, weights) AS by_weight,
    arrayMap(
      (t, rank, at) -> {direction:Int8} * ((t + (rank <= missing)) * {tick:Int256} + if(at = 1, {residue:Int256}, 0)), whole, ranks, places
    ) AS units
  SELECT names, weights, amounts,
    arrayMap(w -> intDiv({ticks:Int256} * w, total), weights) AS whole,
    arrayMap((w, t) -> {ticks:Int256} * w - t * total, weights, whole) AS remainders,
    -- The other way round: where in these orders each name stands.
    arraySort((rank, i) -> i, positions, by_remainder) AS ranks,
    arraySort((rank, i) -> i, positions, by_weight) AS places,
    toString(total) AS total_weight, length(names) AS recipients, toString(missing) AS remaining_ticks,
    arrayCount((u, a) -> u != toInt256(reinterpret(a, 'Int128')), units, amounts) AS differing
  FROM (
    SELECT groupArray(who) AS names, groupArray(weight) AS weights, groupArray(amount) AS amounts
    FROM (
      SELECT who, weight, amount
      FROM (
    SELECT toString(identity_id) AS who, toInt256(sum(micro_units)) AS weight FROM usage
    WHERE day = {day:Date} AND metric IN {sources:Array(String)} AND micro_units > 0
      AND resource_id = (SELECT any(concat(toString(currency), ':', toString(line_tags['cluster']))) FROM published_billing WHERE day = {split_day:Date} AND timestamp = {split_timestamp:DateTime('UTC')} AND env_id = {split_env_id:String} AND resource_id = {split_resource_id:String} AND product_category = {split_product_category:String} AND product_type = {split_product_type:String} AND currency = {split_currency:String} AND line_id = {split_line_id:UInt64})
    GROUP BY identity_id) AS w
      LEFT JOIN (
        SELECT toString(identity_id) AS who, amount_hi + amount_lo AS amount FROM chargebacks WHERE day = {split_day:Date} AND timestamp = {split_timestamp:DateTime('UTC')} AND env_id = {split_env_id:String} AND resource_id = {split_resource_id:String} AND product_category = {split_product_category:String} AND product_type = {split_product_type:String} AND currency = {split_currency:String} AND line_id = {split_line_id:UInt64} AND component = {split_component:UInt8}
      ) AS p USING (who)
      ORDER BY who
    )
  )
)
ARRAY JOIN names AS who, weights AS own_weight, whole AS own_whole, remainders AS own_remainder, ranks AS remainder_rank, places AS place,
  amounts AS own_amount
WHERE (place > {offset:UInt64} AND place <= {offset:UInt64} + {limit:UInt64}) OR who = {identity_id:String}
ORDER BY place

-- {"tick":"100000000","ticks":"100000","residue":"50000000","identity_id":"sa-1","offset":100,"limit":100}
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
      FROM (SELECT 'UNALLOCATED' AS who, toInt256(1) AS weight)
    )
  )
)
WHERE (place > {offset:UInt64} AND place <= {offset:UInt64} + {limit:UInt64}) OR who = {identity_id:String}
ORDER BY place

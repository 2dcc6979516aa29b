-- {"tick":"100000000","ticks":"100000","recipients_hash":"3","residue_hash":"18446744073709551615","residue":"50000000","identity_id":"sa-1","offset":100,"limit":100}
SELECT who AS identity_id, weight, up_to AS weight_up_to, ticks, at_residue_point, place, recipients, total AS total_weight,
  rounding_offset, residue_point, digest
FROM (
  SELECT who, weight, up_to, recipients, total, rounding_offset, residue_point, ticks, at_residue_point, place,
    sum(cityHash64(who) * (ticks * {tick:Int256} + at_residue_point * {residue:Int256})) OVER () AS digest
  FROM (
    SELECT who, weight, up_to, recipients, total, rounding_offset, residue_point, intDiv({ticks:Int256} * up_to + rounding_offset, total) - intDiv({ticks:Int256} * (up_to - weight) + rounding_offset, total) AS ticks,
      residue_point >= up_to - weight AND residue_point < up_to AS at_residue_point,
      row_number() OVER (ORDER BY weight DESC, who) AS place
    FROM (
      SELECT who, weight, up_to, recipients, total, CAST(bitShiftRight(CAST({recipients_hash:UInt64} AS UInt256) * CAST(total AS UInt256), 64) AS Int256) AS rounding_offset,
        CAST(bitShiftRight(CAST({residue_hash:UInt64} AS UInt256) * CAST(total AS UInt256), 64) AS Int256) AS residue_point
      FROM (
        SELECT who, weight, count() OVER () AS recipients, sum(weight) OVER () AS total,
          sum(weight) OVER (ORDER BY who ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS up_to
        FROM (SELECT 'UNALLOCATED' AS who, toInt256(1) AS weight)
      )
    )
  )
)
WHERE (place > {offset:UInt64} AND place <= {offset:UInt64} + {limit:UInt64}) OR who = {identity_id:String}
ORDER BY place

-- {"day":"2026-03-01","metrics":["in","out"],"resource_id":"r-1","identity_id":"sa-1"}
SELECT sumIf(micro_units, identity_id = {identity_id:String}) AS own,
  toString(toDecimal256(own, 6) / 1000000) AS weight, toString(toDecimal256(sum(micro_units), 6) / 1000000) AS total_weight
FROM usage
WHERE day = {day:Date} AND metric IN {metrics:Array(String)} AND resource_id = {resource_id:String} AND micro_units > 0
HAVING own > 0

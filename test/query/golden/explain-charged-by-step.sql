-- {"split_day":"2026-03-01","split_timestamp":"2026-03-01 00:00:00","split_env_id":"","split_resource_id":"r-1","split_product_category":"KAFKA","split_product_type":"STORAGE","split_currency":"EUR","split_line_id":0,"split_component":0,"steps_1":[1],"from_1":["idle"],"offset":100,"limit":100,"identity_id":"sa-1"}
SELECT who AS identity_id, toString(amount) AS amount, recipients, place
FROM (
  SELECT who, amount, count() OVER () AS recipients, row_number() OVER (ORDER BY abs(amount) DESC, who) AS place
  FROM (
    SELECT if(length(passed_path.step) > 1, toString(passed_path.identity_id[2]), toString(identity_id)) AS who, sum(CAST(amount_hi AS Decimal(38, 12)) + amount_lo) AS amount
    FROM chargebacks WHERE day = {split_day:Date} AND timestamp = {split_timestamp:DateTime('UTC')} AND env_id = {split_env_id:String} AND resource_id = {split_resource_id:String} AND product_category = {split_product_category:String} AND product_type = {split_product_type:String} AND currency = {split_currency:String} AND line_id = {split_line_id:UInt64} AND component = {split_component:UInt8} AND arraySlice(passed_path.step, 1, 1) = {steps_1:Array(UInt8)} AND arraySlice(passed_path.identity_id, 1, 1) = {from_1:Array(String)} GROUP BY who
  )
)
WHERE (place > {offset:UInt64} AND place <= {offset:UInt64} + {limit:UInt64}) OR who = {identity_id:String}
ORDER BY place

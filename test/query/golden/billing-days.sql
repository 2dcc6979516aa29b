-- {"first_day":"2026-03-01","last_day":"2026-03-05","product_type":"STORAGE","resource_id":"r-1"}
SELECT day, count() AS rows FROM billing WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND product_type = {product_type:String} AND resource_id = {resource_id:String} GROUP BY day ORDER BY day

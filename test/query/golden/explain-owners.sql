-- {"day":"2026-03-01","resource_id":"r-1"}
SELECT DISTINCT toString(identity_id) AS identity_id FROM identity_sets
WHERE day = {day:Date} AND scope = 'owner' AND resource_id = {resource_id:String}
ORDER BY identity_id LIMIT 100

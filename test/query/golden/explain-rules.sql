-- {"day":"2026-03-01","product_type":"STORAGE"}
SELECT rule, product_type, component, component_ratio, ratio_from, ratio_to, tier, kind, sources, set_of, allocation_detail
FROM allocation_rules
WHERE rules_hash IN (SELECT rules_hash FROM chargebacks WHERE day = {day:Date} LIMIT 1) AND (rule != '' OR product_type IN ({product_type:String}, '*'))
ORDER BY component, tier

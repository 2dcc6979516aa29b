-- {"rules_hash":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","stage":9}
SELECT rule, product_type, component, component_ratio, ratio_from, ratio_to, tier, kind, sources, set_of, allocation_detail
FROM allocation_rules
WHERE rules_hash = {rules_hash:String} AND stage = {stage:UInt8}
ORDER BY component, tier

-- {"rules_hash":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","rule":"by team","product_type":"STORAGE"}
SELECT rule, product_type, component, component_ratio, ratio_from, ratio_to, tier, kind, sources, set_of, allocation_detail
FROM allocation_rules
WHERE rules_hash = {rules_hash:String} AND ((rule != '' AND rule = {rule:String}) OR (rule = '' AND product_type IN ({product_type:String}, '*')))
ORDER BY component, tier

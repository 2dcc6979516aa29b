-- {"measured":[{"values":["2026-03-01","in","r-1"]}],"identities":["sa-1"]}
WITH sumMapIf([toString(identity_id)], [micro_units], identity_id IN {identities:Array(String)}) AS sums
SELECT day, metric, resource_id, toString(sum(micro_units)) AS total, (sums.1, arrayMap(quantity -> toString(quantity), sums.2)) AS own
FROM usage
WHERE (day, metric, resource_id) IN {measured:Array(Tuple(Date, String, String))} AND micro_units > 0
GROUP BY day, metric, resource_id

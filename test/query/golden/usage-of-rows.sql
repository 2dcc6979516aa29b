-- {"measured":[{"values":["2026-03-01","in","r-1"]}],"identities":["sa-1"]}
SELECT day, metric, resource_id, toString(sum(quantity)) AS total,
  groupArrayIf((identity_id, toString(quantity)), identity_id IN {identities:Array(String)}) AS own
FROM (
  SELECT day, metric, resource_id, identity_id, sum(micro_units) AS quantity
  FROM usage
  WHERE (day, metric, resource_id) IN {measured:Array(Tuple(Date, String, String))} AND micro_units > 0
  GROUP BY day, metric, resource_id, identity_id
)
GROUP BY day, metric, resource_id

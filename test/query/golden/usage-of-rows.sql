-- {"measured":[{"values":["2026-03-01","in","r-1"]}],"identities":["sa-1"],"metrics":["in"],"resources":["r-1"]}
SELECT day, metric, resource_id, toString(sum(micro_units)) AS quantity,
  transform(identity_id, {identities:Array(String)}, range(1, length({identities:Array(String)}) + 1), 0) AS place
FROM usage
WHERE indexHint((day, metric, resource_id) IN {measured:Array(Tuple(Date, String, String))}) AND metric IN {metrics:Array(String)} AND resource_id IN {resources:Array(String)}
GROUP BY day, metric, resource_id, place
HAVING (day, metric, resource_id) IN {measured:Array(Tuple(Date, String, String))}

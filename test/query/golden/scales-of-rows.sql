-- {"measured":[{"values":["2026-03-01","in","r-1"]}],"metrics":["in"],"resources":["r-1"]}
SELECT day, metric, resource_id, max(usage.scale) AS scale
FROM usage
WHERE indexHint((day, metric, resource_id) IN {measured:Array(Tuple(Date, String, String))}) AND metric IN {metrics:Array(String)} AND resource_id IN {resources:Array(String)} AND usage.scale != 0
GROUP BY day, metric, resource_id
HAVING (day, metric, resource_id) IN {measured:Array(Tuple(Date, String, String))}

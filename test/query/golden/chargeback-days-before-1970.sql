-- {}
SELECT day, count() AS rows FROM chargebacks WHERE 0 GROUP BY day ORDER BY day

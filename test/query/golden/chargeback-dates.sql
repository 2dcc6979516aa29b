-- {}
SELECT day FROM chargebacks GROUP BY day ORDER BY day

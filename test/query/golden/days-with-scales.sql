-- {"days":["2026-03-01"]}
SELECT day FROM usage WHERE day IN {days:Array(Date)} AND usage.scale != 0 GROUP BY day

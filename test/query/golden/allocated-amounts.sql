-- {"from":"2026-03-01 00:00:00","to":"2026-03-06 00:00:00"}
SELECT if(grouping(charged_day) = 1, '', toString(charged_day)) AS day, toString(of_currency) AS currency,
  toString(sumIf(hi, identity_id != 'UNALLOCATED') + sumIf(lo, identity_id != 'UNALLOCATED')) AS allocated, toString(sumIf(hi, identity_id = 'UNALLOCATED') + sumIf(lo, identity_id = 'UNALLOCATED')) AS unallocated
FROM (
  SELECT toDate(timestamp, 'UTC') AS charged_day, currency AS of_currency, identity_id, sum(amount_hi) AS hi, sum(amount_lo) AS lo
  FROM chargebacks WHERE timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY timestamp, currency, identity_id
)
GROUP BY GROUPING SETS ((charged_day, of_currency), (of_currency))

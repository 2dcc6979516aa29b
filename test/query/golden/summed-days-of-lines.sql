-- {"first_day":"2026-03-01","last_day":"2026-03-05","environment_id":["env-1"],"not_account_id":["1"]}
SELECT if(grouping(of_day) = 1, '', toString(of_day)) AS day, of_currency AS currency, toString(sum(billed)) AS billing_amount,
  toString(sumIf(charged, NOT nobody)) AS allocated_amount, toString(sumIf(charged, nobody)) AS unallocated_amount,
  toString(sum(charged) - sum(billed)) AS difference, sum(rows) AS chargeback_rows
FROM (
  SELECT toDate(timestamp, 'UTC') AS of_day, toString(currency) AS of_currency, false AS nobody, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged,
    toUInt64(0) AS rows
  FROM published_billing WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND env_id IN {environment_id:Array(String)} AND account_id NOT IN {not_account_id:Array(String)} GROUP BY of_day, of_currency
  UNION ALL
  SELECT toDate(timestamp, 'UTC') AS of_day, toString(currency) AS of_currency, identity_id = 'UNALLOCATED' AS nobody, toDecimal128(0, 12),
    sum(amount_hi) + sum(amount_lo), count()
  FROM chargebacks WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND env_id IN {environment_id:Array(String)} AND account_id NOT IN {not_account_id:Array(String)} GROUP BY of_day, of_currency, nobody
)
GROUP BY GROUPING SETS ((of_day, of_currency), (of_currency))
ORDER BY day, currency

-- {"first_day":"2026-03-01","last_day":"2026-03-05","environment_id":["env-1"],"not_account_id":["1"]}
SELECT toString(of_day) AS day, of_currency AS currency, toString(sum(billed)) AS billing_amount, toString(sum(charged) - sum(unallocated)) AS allocated_amount,
  toString(sum(unallocated)) AS unallocated_amount, toString(sum(charged) - sum(billed)) AS difference, sum(rows) AS chargeback_rows,
  max(of_provisional) AS provisional
FROM (
  SELECT day AS of_day, toString(currency) AS of_currency, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged, toDecimal128(0, 12) AS unallocated,
    toUInt64(0) AS rows, false AS of_provisional
  FROM published_billing WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND env_id IN {environment_id:Array(String)} AND account_id NOT IN {not_account_id:Array(String)} GROUP BY of_day, of_currency
  UNION ALL
  SELECT day AS of_day, toString(currency) AS of_currency, toDecimal128(0, 12), sum(amount_hi) + sum(amount_lo) AS all, if(identity_id = 'UNALLOCATED', all, toDecimal128(0, 12)), count(), max(provisional)
  FROM chargebacks WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND env_id IN {environment_id:Array(String)} AND account_id NOT IN {not_account_id:Array(String)} GROUP BY of_day, of_currency, identity_id = 'UNALLOCATED'
)
GROUP BY of_day, of_currency
ORDER BY day, currency

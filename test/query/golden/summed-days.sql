-- {"first_day":"2026-03-01","last_day":"2026-03-05","from":"2026-03-01 00:00:00","to":"2026-03-06 00:00:00"}
SELECT toString(of_day) AS day, of_currency AS currency, toString(sum(billed)) AS billing_amount, toString(sum(charged) - sum(unallocated)) AS allocated_amount,
  toString(sum(unallocated)) AS unallocated_amount, toString(sum(charged) - sum(billed)) AS difference, sum(rows) AS chargeback_rows,
  max(of_provisional) AS provisional
FROM (
  SELECT toDate(timestamp, 'UTC') AS of_day, toString(currency) AS of_currency, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged, toDecimal128(0, 12) AS unallocated,
    toUInt64(0) AS rows, false AS of_provisional
  FROM published_billing WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY of_day, of_currency
  UNION ALL
  SELECT toDate(timestamp, 'UTC') AS of_day, toString(currency) AS of_currency, toDecimal128(0, 12), sum(amount_hi) + sum(amount_lo), toDecimal128(0, 12), count(), provisional AS of_provisional
  FROM chargebacks WHERE indexHint(day >= {first_day:Date} AND day <= {last_day:Date}) AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY of_day, of_currency, of_provisional, allocation_detail
  UNION ALL
  SELECT toDate(timestamp, 'UTC') AS of_day, toString(currency) AS of_currency, toDecimal128(0, 12), toDecimal128(0, 12), sum(amount_hi) + sum(amount_lo), toUInt64(0), false
  FROM chargebacks WHERE indexHint(day >= {first_day:Date} AND day <= {last_day:Date}) AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} AND identity_id = 'UNALLOCATED' GROUP BY of_day, of_currency, identity_id
)
GROUP BY of_day, of_currency
ORDER BY day, currency

-- {"first_day":"2026-03-01","last_day":"2026-03-05"}
SELECT toString(of_day) AS day, of_currency AS currency, toString(sum(billed)) AS billing_amount, toString(sum(charged) - sum(unallocated)) AS allocated_amount,
  toString(sum(unallocated)) AS unallocated_amount, toString(sum(charged) - sum(billed)) AS difference, sum(rows) AS chargeback_rows,
  max(of_provisional) AS provisional
FROM (
  SELECT day AS of_day, toString(currency) AS of_currency, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged, toDecimal128(0, 12) AS unallocated,
    toUInt64(0) AS rows, false AS of_provisional
  FROM published_billing WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY of_day, of_currency
  UNION ALL
  SELECT day AS of_day, toString(currency) AS of_currency, toDecimal128(0, 12), sum(amount_hi) + sum(amount_lo), toDecimal128(0, 12), sum(row_count), max(provisional)
  FROM published_sums_by_reason WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY of_day, of_currency
  UNION ALL
  SELECT day AS of_day, toString(currency) AS of_currency, toDecimal128(0, 12), toDecimal128(0, 12), sum(amount_hi) + sum(amount_lo), toUInt64(0), false
  FROM published_sums_by_identity WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND identity_id = 'UNALLOCATED' GROUP BY of_day, of_currency
)
GROUP BY of_day, of_currency
ORDER BY day, currency

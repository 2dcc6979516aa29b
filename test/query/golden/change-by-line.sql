-- {"first_day":"2026-02-19","last_day":"2026-03-05","now_from":"2026-03-01 00:00:00","gap_from":"2026-02-21 00:00:00","gap_to":"2026-03-01 00:00:00","groups_limit":10}
WITH
  (
    SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources
  ) AS known_resources
SELECT toString(c6), [toString(now), toString(before), toString(quantity), toString(price), toString(share), toString(new), toString(gone)], [toString(all_now), toString(all_before), toString(all_quantity), toString(all_price), toString(all_share), toString(all_new), toString(all_gone)], all_groups,
  if(key_count = 1, bill, []), if(key_count = 1, unit, ''), c0, c1, transform(c1, known_resources.1, known_resources.2, '')
FROM (
  SELECT *, sum(now) OVER of_currency AS all_now, sum(before) OVER of_currency AS all_before, sum(quantity) OVER of_currency AS all_quantity, sum(price) OVER of_currency AS all_price, sum(share) OVER of_currency AS all_share, sum(new) OVER of_currency AS all_new, sum(gone) OVER of_currency AS all_gone, count() OVER of_currency AS all_groups,
    row_number() OVER (PARTITION BY c6 ORDER BY abs(now - before) DESC, c0, c1, c6) AS rank
  FROM (
    SELECT c0, c1, c6, sum(charged_now) AS now, sum(charged_before) AS before,
      sum(by_quantity) AS quantity, sum(by_cost - by_quantity) AS price, sumIf(charged_now - charged_before - by_line, is_priced) AS share,
      sumIf(charged_now, lines_before = 0 AND lines_now > 0) AS new, -sumIf(charged_before, lines_now = 0 AND lines_before > 0) AS gone,
      count() AS key_count, any(of_bill) AS bill, any(of_unit) AS unit
    FROM (
      SELECT *, lines_before > 0 AND lines_now > 0 AND is_one_sign AND cost_before != 0 AS is_priced,
        is_priced AND quantity_before > 0 AND quantity_now > 0 AND is_one_unit AS is_measured,
        if(is_priced, intDiv(charged_before * toInt256((cost_now - cost_before) * toDecimal256('1000000000000', 0)), if(is_priced, toInt256((cost_before) * toDecimal256('1000000000000', 0)), toInt256(1))), toInt256(0)) AS by_line,
        if(is_measured, by_line, toInt256(0)) AS by_cost,
        if(is_measured, intDiv(charged_before * toInt256((quantity_now - quantity_before) * toDecimal256('1000000000000', 0)), if(is_measured, toInt256((quantity_before) * toDecimal256('1000000000000', 0)), toInt256(1))), toInt256(0)) AS by_quantity
      FROM (
        SELECT c0, c1, c2, c3, c4, c5, c6, toInt256((sumIf(hi, is_now) + sumIf(lo, is_now)) * toDecimal256('1000000000000', 0)) AS charged_now, toInt256((sumIf(hi, NOT is_now) + sumIf(lo, NOT is_now)) * toDecimal256('1000000000000', 0)) AS charged_before
        FROM (
    SELECT product_type AS c0, resource_id AS c1, product_category AS c2, env_id AS c3, sku_id AS c4, charge_category AS c5, currency AS c6, timestamp >= {now_from:DateTime('UTC')} AS is_now, amount_hi AS hi, amount_lo AS lo, 1 AS n
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND NOT (timestamp >= {gap_from:DateTime('UTC')} AND timestamp < {gap_to:DateTime('UTC')})
  )
        GROUP BY c0, c1, c2, c3, c4, c5, c6
      ) AS charged
      LEFT JOIN (
        SELECT resource_id AS k0, product_type AS k1, product_category AS k2, env_id AS k3, sku_id AS k4, charge_category AS k5, currency AS k6,
          countIf(NOT is_now) AS lines_before, countIf(is_now) AS lines_now,
          sumIf(total_cost, NOT is_now) AS cost_before, sumIf(total_cost, is_now) AS cost_now,
          sumIf(quantity, NOT is_now) AS quantity_before, sumIf(quantity, is_now) AS quantity_now,
          sumIf(abs(total_cost), NOT is_now) = abs(cost_before) AS is_one_sign,
          min(line_unit) = max(line_unit) AS is_one_unit, if(is_one_unit, any(line_unit), '') AS of_unit,
          [toString(quantity_now), toString(quantity_before), toString(cost_now), toString(cost_before)] AS of_bill
        FROM (
          SELECT *, timestamp >= {now_from:DateTime('UTC')} AS is_now, if(JSONExtractString(metadata, 'unit') != '', JSONExtractString(metadata, 'unit'), if(JSONExtractString(metadata, 'ConsumedUnit') != '', JSONExtractString(metadata, 'ConsumedUnit'), JSONExtractString(metadata, 'PricingUnit'))) AS line_unit
          FROM published_billing
          WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND NOT (timestamp >= {gap_from:DateTime('UTC')} AND timestamp < {gap_to:DateTime('UTC')})
        )
        GROUP BY k0, k1, k2, k3, k4, k5, k6
      ) AS billed ON c1 = k0 AND c0 = k1 AND c2 = k2 AND c3 = k3 AND c4 = k4 AND c5 = k5 AND c6 = k6
    )
    GROUP BY c0, c1, c6
  )
  WINDOW of_currency AS (PARTITION BY c6)
)
WHERE rank <= {groups_limit:UInt32}
ORDER BY c6, rank

-- {"first_day":"2026-02-19","last_day":"2026-03-05","identity_id":["sa-1"],"not_identity_id":["sa-2","sa-3"],"resource_id":["r-1"],"product_type":["STORAGE"],"currency":["EUR"],"cost_type":["usage"],"tag_key_f0":"squad","tag_names_0":["payments","search"],"tag_key_f1":"stage","tag_names_1":["UNTAGGED"],"tag_key_c1":"squad","now_from":"2026-03-01 00:00:00","groups_limit":10}
WITH
  tagged_f0 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_f0:String} AND display_name IN {tag_names_0:Array(String)}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String))) FROM tagged_f0) AS tag_values_f0,
  tagged_f1 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_f1:String} AND display_name NOT IN {tag_names_1:Array(String)}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String))) FROM tagged_f1) AS tag_values_f1,
  (SELECT arraySort(arrayDistinct(arrayPushBack(groupUniqArray(toString(team)), 'UNASSIGNED'))) FROM identities) AS team_names,
  (
    SELECT (groupArray(identity_id), groupArray(toUInt32(transform(toString(team), team_names, range(1, length(team_names) + 1), 0))))
    FROM identities
  ) AS team_positions,
  tagged_c1 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_c1:String}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (
    SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String)), arraySort(arrayDistinct(arrayPushBack(groupUniqArray(name), 'UNTAGGED'))))
    FROM tagged_c1
  ) AS tag_values_c1,
  (
    SELECT (groupArray((((((((toUInt64(transform(ecosystem, tag_values_c1.1, range(1, length(tag_values_c1.1) + 1), 0))) * (length(tag_values_c1.2) + 1) + toUInt64(transform(tenant_id, tag_values_c1.2, range(1, length(tag_values_c1.2) + 1), 0))) * (length(tag_values_c1.3) + 1) + toUInt64(transform(env_id, tag_values_c1.3, range(1, length(tag_values_c1.3) + 1), 0))) * (length(tag_values_c1.4) + 1) + toUInt64(transform(resource_id, tag_values_c1.4, range(1, length(tag_values_c1.4) + 1), 0))) * (length(tag_values_c1.5) + 1) + toUInt64(transform(product_category, tag_values_c1.5, range(1, length(tag_values_c1.5) + 1), 0))) * (length(tag_values_c1.6) + 1) + toUInt64(transform(product_type, tag_values_c1.6, range(1, length(tag_values_c1.6) + 1), 0))) * (length(tag_values_c1.7) + 1) + toUInt64(transform(identity_id, tag_values_c1.7, range(1, length(tag_values_c1.7) + 1), 0))) * (length(tag_values_c1.8) + 1) + toUInt64(transform(cost_type, tag_values_c1.8, range(1, length(tag_values_c1.8) + 1), 0))), groupArray(toUInt32(transform(name, tag_values_c1.9, range(1, length(tag_values_c1.9) + 1), 0))))
    FROM tagged_c1
    WHERE NOT throwIf(toFloat64(length(tag_values_c1.1) + 1) * toFloat64(length(tag_values_c1.2) + 1) * toFloat64(length(tag_values_c1.3) + 1) * toFloat64(length(tag_values_c1.4) + 1) * toFloat64(length(tag_values_c1.5) + 1) * toFloat64(length(tag_values_c1.6) + 1) * toFloat64(length(tag_values_c1.7) + 1) * toFloat64(length(tag_values_c1.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  ) AS tag_positions_c1,
  (
    SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources
  ) AS known_resources
SELECT toString(c8), [toString(now), toString(before), toString(quantity), toString(price), toString(share), toString(new), toString(gone)], [toString(all_now), toString(all_before), toString(all_quantity), toString(all_price), toString(all_share), toString(all_new), toString(all_gone)], all_groups,
  if(key_count = 1, bill, []), if(key_count = 1, unit, ''), team_names[c0], tag_values_c1.9[c1]
FROM (
  SELECT *, sum(now) OVER of_currency AS all_now, sum(before) OVER of_currency AS all_before, sum(quantity) OVER of_currency AS all_quantity, sum(price) OVER of_currency AS all_price, sum(share) OVER of_currency AS all_share, sum(new) OVER of_currency AS all_new, sum(gone) OVER of_currency AS all_gone, count() OVER of_currency AS all_groups,
    row_number() OVER (PARTITION BY c8 ORDER BY abs(now - before) DESC, c0, c1, c8) AS rank
  FROM (
    SELECT c0, c1, c8, sum(charged_now) AS now, sum(charged_before) AS before,
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
        SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, toInt256((sumIf(hi, is_now) + sumIf(lo, is_now)) * toDecimal256('1000000000000', 0)) AS charged_now, toInt256((sumIf(hi, NOT is_now) + sumIf(lo, NOT is_now)) * toDecimal256('1000000000000', 0)) AS charged_before
        FROM (
    SELECT transform(identity_id, team_positions.1, team_positions.2, toUInt32(indexOf(team_names, 'UNASSIGNED'))) AS c0, transform((((((((toUInt64(transform(ecosystem, tag_values_c1.1, range(1, length(tag_values_c1.1) + 1), 0))) * (length(tag_values_c1.2) + 1) + toUInt64(transform(tenant_id, tag_values_c1.2, range(1, length(tag_values_c1.2) + 1), 0))) * (length(tag_values_c1.3) + 1) + toUInt64(transform(env_id, tag_values_c1.3, range(1, length(tag_values_c1.3) + 1), 0))) * (length(tag_values_c1.4) + 1) + toUInt64(transform(resource_id, tag_values_c1.4, range(1, length(tag_values_c1.4) + 1), 0))) * (length(tag_values_c1.5) + 1) + toUInt64(transform(product_category, tag_values_c1.5, range(1, length(tag_values_c1.5) + 1), 0))) * (length(tag_values_c1.6) + 1) + toUInt64(transform(product_type, tag_values_c1.6, range(1, length(tag_values_c1.6) + 1), 0))) * (length(tag_values_c1.7) + 1) + toUInt64(transform(identity_id, tag_values_c1.7, range(1, length(tag_values_c1.7) + 1), 0))) * (length(tag_values_c1.8) + 1) + toUInt64(transform(cost_type, tag_values_c1.8, range(1, length(tag_values_c1.8) + 1), 0)), tag_positions_c1.1, tag_positions_c1.2, toUInt32(indexOf(tag_values_c1.9, 'UNTAGGED'))) AS c1, resource_id AS c2, product_type AS c3, product_category AS c4, env_id AS c5, sku_id AS c6, charge_category AS c7, currency AS c8, timestamp >= {now_from:DateTime('UTC')} AS is_now, amount_hi AS hi, amount_lo AS lo, 1 AS n
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND identity_id IN {identity_id:Array(String)} AND identity_id NOT IN {not_identity_id:Array(String)} AND resource_id IN {resource_id:Array(String)} AND product_type IN {product_type:Array(String)} AND currency IN {currency:Array(String)} AND cost_type IN {cost_type:Array(String)} AND resource_id IN (SELECT resource_id FROM tagged_f0) AND identity_id IN (SELECT identity_id FROM tagged_f0) AND (((((((toUInt64(transform(ecosystem, tag_values_f0.1, range(1, length(tag_values_f0.1) + 1), 0))) * (length(tag_values_f0.2) + 1) + toUInt64(transform(tenant_id, tag_values_f0.2, range(1, length(tag_values_f0.2) + 1), 0))) * (length(tag_values_f0.3) + 1) + toUInt64(transform(env_id, tag_values_f0.3, range(1, length(tag_values_f0.3) + 1), 0))) * (length(tag_values_f0.4) + 1) + toUInt64(transform(resource_id, tag_values_f0.4, range(1, length(tag_values_f0.4) + 1), 0))) * (length(tag_values_f0.5) + 1) + toUInt64(transform(product_category, tag_values_f0.5, range(1, length(tag_values_f0.5) + 1), 0))) * (length(tag_values_f0.6) + 1) + toUInt64(transform(product_type, tag_values_f0.6, range(1, length(tag_values_f0.6) + 1), 0))) * (length(tag_values_f0.7) + 1) + toUInt64(transform(identity_id, tag_values_f0.7, range(1, length(tag_values_f0.7) + 1), 0))) * (length(tag_values_f0.8) + 1) + toUInt64(transform(cost_type, tag_values_f0.8, range(1, length(tag_values_f0.8) + 1), 0)) IN (
    SELECT (((((((toUInt64(transform(ecosystem, tag_values_f0.1, range(1, length(tag_values_f0.1) + 1), 0))) * (length(tag_values_f0.2) + 1) + toUInt64(transform(tenant_id, tag_values_f0.2, range(1, length(tag_values_f0.2) + 1), 0))) * (length(tag_values_f0.3) + 1) + toUInt64(transform(env_id, tag_values_f0.3, range(1, length(tag_values_f0.3) + 1), 0))) * (length(tag_values_f0.4) + 1) + toUInt64(transform(resource_id, tag_values_f0.4, range(1, length(tag_values_f0.4) + 1), 0))) * (length(tag_values_f0.5) + 1) + toUInt64(transform(product_category, tag_values_f0.5, range(1, length(tag_values_f0.5) + 1), 0))) * (length(tag_values_f0.6) + 1) + toUInt64(transform(product_type, tag_values_f0.6, range(1, length(tag_values_f0.6) + 1), 0))) * (length(tag_values_f0.7) + 1) + toUInt64(transform(identity_id, tag_values_f0.7, range(1, length(tag_values_f0.7) + 1), 0))) * (length(tag_values_f0.8) + 1) + toUInt64(transform(cost_type, tag_values_f0.8, range(1, length(tag_values_f0.8) + 1), 0)) FROM tagged_f0 WHERE NOT throwIf(toFloat64(length(tag_values_f0.1) + 1) * toFloat64(length(tag_values_f0.2) + 1) * toFloat64(length(tag_values_f0.3) + 1) * toFloat64(length(tag_values_f0.4) + 1) * toFloat64(length(tag_values_f0.5) + 1) * toFloat64(length(tag_values_f0.6) + 1) * toFloat64(length(tag_values_f0.7) + 1) * toFloat64(length(tag_values_f0.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  ) AND (((((((toUInt64(transform(ecosystem, tag_values_f1.1, range(1, length(tag_values_f1.1) + 1), 0))) * (length(tag_values_f1.2) + 1) + toUInt64(transform(tenant_id, tag_values_f1.2, range(1, length(tag_values_f1.2) + 1), 0))) * (length(tag_values_f1.3) + 1) + toUInt64(transform(env_id, tag_values_f1.3, range(1, length(tag_values_f1.3) + 1), 0))) * (length(tag_values_f1.4) + 1) + toUInt64(transform(resource_id, tag_values_f1.4, range(1, length(tag_values_f1.4) + 1), 0))) * (length(tag_values_f1.5) + 1) + toUInt64(transform(product_category, tag_values_f1.5, range(1, length(tag_values_f1.5) + 1), 0))) * (length(tag_values_f1.6) + 1) + toUInt64(transform(product_type, tag_values_f1.6, range(1, length(tag_values_f1.6) + 1), 0))) * (length(tag_values_f1.7) + 1) + toUInt64(transform(identity_id, tag_values_f1.7, range(1, length(tag_values_f1.7) + 1), 0))) * (length(tag_values_f1.8) + 1) + toUInt64(transform(cost_type, tag_values_f1.8, range(1, length(tag_values_f1.8) + 1), 0)) NOT IN (
    SELECT (((((((toUInt64(transform(ecosystem, tag_values_f1.1, range(1, length(tag_values_f1.1) + 1), 0))) * (length(tag_values_f1.2) + 1) + toUInt64(transform(tenant_id, tag_values_f1.2, range(1, length(tag_values_f1.2) + 1), 0))) * (length(tag_values_f1.3) + 1) + toUInt64(transform(env_id, tag_values_f1.3, range(1, length(tag_values_f1.3) + 1), 0))) * (length(tag_values_f1.4) + 1) + toUInt64(transform(resource_id, tag_values_f1.4, range(1, length(tag_values_f1.4) + 1), 0))) * (length(tag_values_f1.5) + 1) + toUInt64(transform(product_category, tag_values_f1.5, range(1, length(tag_values_f1.5) + 1), 0))) * (length(tag_values_f1.6) + 1) + toUInt64(transform(product_type, tag_values_f1.6, range(1, length(tag_values_f1.6) + 1), 0))) * (length(tag_values_f1.7) + 1) + toUInt64(transform(identity_id, tag_values_f1.7, range(1, length(tag_values_f1.7) + 1), 0))) * (length(tag_values_f1.8) + 1) + toUInt64(transform(cost_type, tag_values_f1.8, range(1, length(tag_values_f1.8) + 1), 0)) FROM tagged_f1 WHERE NOT throwIf(toFloat64(length(tag_values_f1.1) + 1) * toFloat64(length(tag_values_f1.2) + 1) * toFloat64(length(tag_values_f1.3) + 1) * toFloat64(length(tag_values_f1.4) + 1) * toFloat64(length(tag_values_f1.5) + 1) * toFloat64(length(tag_values_f1.6) + 1) * toFloat64(length(tag_values_f1.7) + 1) * toFloat64(length(tag_values_f1.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  )
  )
        GROUP BY c0, c1, c2, c3, c4, c5, c6, c7, c8
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
          WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND resource_id IN {resource_id:Array(String)} AND product_type IN {product_type:Array(String)} AND currency IN {currency:Array(String)}
        )
        GROUP BY k0, k1, k2, k3, k4, k5, k6
      ) AS billed ON c2 = k0 AND c3 = k1 AND c4 = k2 AND c5 = k3 AND c6 = k4 AND c7 = k5 AND c8 = k6
    )
    GROUP BY c0, c1, c8
  )
  WINDOW of_currency AS (PARTITION BY c8)
)
WHERE rank <= {groups_limit:UInt32}
ORDER BY c8, rank

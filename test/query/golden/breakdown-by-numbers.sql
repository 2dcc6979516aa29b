-- {"first_day":"2026-02-19","last_day":"2026-03-05","tag_key_c1":"squad","now_from":"2026-03-01 00:00:00","groups_limit":10}
WITH
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
    SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities
  ) AS known_identities,
  (SELECT groupArray(value) FROM (SELECT identity_id AS value FROM published_sums_by_identity WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY value)) AS values_0,
  (SELECT groupArray(value) FROM (SELECT product_type AS value FROM published_sums_by_reason WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY value)) AS values_2,
  (SELECT groupArray(value) FROM (SELECT currency AS value FROM published_sums_by_reason WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY value)) AS values_3
SELECT toString(c3), [toString(total), toString(usage), toString(shared), toString(rows), toString(previous), toString(own), toString(shared_among), toString(unallocated)], is_provisional,
  [toString(all_groups), toString(all_total), toString(all_usage), toString(all_shared), toString(all_rows), toString(all_previous), toString(all_own), toString(all_shared_among), toString(all_unallocated)],
  [toString(all_groups - countIf(rank <= {groups_limit:UInt32}) OVER shown), toString(all_total - sumIf(total, rank <= {groups_limit:UInt32}) OVER shown), toString(all_usage - sumIf(usage, rank <= {groups_limit:UInt32}) OVER shown), toString(all_shared - sumIf(shared, rank <= {groups_limit:UInt32}) OVER shown), toString(all_rows - sumIf(rows, rank <= {groups_limit:UInt32}) OVER shown), toString(all_previous - sumIf(previous, rank <= {groups_limit:UInt32}) OVER shown), toString(all_own - sumIf(own, rank <= {groups_limit:UInt32}) OVER shown), toString(all_shared_among - sumIf(shared_among, rank <= {groups_limit:UInt32}) OVER shown), toString(all_unallocated - sumIf(unallocated, rank <= {groups_limit:UInt32}) OVER shown)], rank, mover, c0, tag_values_c1.9[c1], c2, transform(c0, known_identities.1, known_identities.2, '')
FROM (
  SELECT *, false AS is_nobody, row_number() OVER (PARTITION BY c3, is_nobody ORDER BY abs(total) DESC, c0, c1, c2, c3) AS rank, toUInt64(0) AS mover,
    sum(total) OVER of_currency AS all_total, sum(usage) OVER of_currency AS all_usage, sum(shared) OVER of_currency AS all_shared, sum(rows) OVER of_currency AS all_rows, sum(previous) OVER of_currency AS all_previous, sum(own) OVER of_currency AS all_own, sum(shared_among) OVER of_currency AS all_shared_among, sum(unallocated) OVER of_currency AS all_unallocated, count() OVER of_currency AS all_groups
  FROM (
    SELECT c0, c1, c2, c3, sumIf(hi, is_now) + sumIf(lo, is_now) AS total, sumIf(hi, is_now AND cost_type = 'usage') + sumIf(lo, is_now AND cost_type = 'usage') AS usage,
      sumIf(hi, is_now AND cost_type = 'shared') + sumIf(lo, is_now AND cost_type = 'shared') AS shared, sumIf(n, is_now) AS rows, sumIf(hi, NOT is_now) + sumIf(lo, NOT is_now) AS previous,
      sumIf(hi, is_now AND cost_type = 'usage' AND NOT of_nobody) + sumIf(lo, is_now AND cost_type = 'usage' AND NOT of_nobody) AS own, sumIf(hi, is_now AND cost_type = 'shared' AND NOT of_nobody) + sumIf(lo, is_now AND cost_type = 'shared' AND NOT of_nobody) AS shared_among,
      sumIf(hi, is_now AND of_nobody) + sumIf(lo, is_now AND of_nobody) AS unallocated,
      toUInt8(maxIf(of_provisional, is_now)) AS is_provisional
    FROM (
    SELECT values_0[number_0] AS c0, number_1 AS c1, values_2[number_2] AS c2, values_3[intDiv(marks, 32)] AS c3, ['usage', 'shared', 'passed'][intDiv(marks, 1) % 4 + throwIf(number_0 = 0 OR number_2 = 0 OR intDiv(marks, 32) = 0 OR intDiv(marks, 1) % 4 = 0, 'values came up while they were counted')] AS cost_type,
      intDiv(marks, 4) % 2 AS is_now, intDiv(marks, 8) % 2 AS of_provisional, intDiv(marks, 16) % 2 AS of_nobody, hi, lo, n
    FROM (
    SELECT CAST(transform(identity_id, values_0, arrayEnumerate(values_0), 0) AS UInt32) AS number_0, CAST(transform((((((((toUInt64(transform(ecosystem, tag_values_c1.1, range(1, length(tag_values_c1.1) + 1), 0))) * (length(tag_values_c1.2) + 1) + toUInt64(transform(tenant_id, tag_values_c1.2, range(1, length(tag_values_c1.2) + 1), 0))) * (length(tag_values_c1.3) + 1) + toUInt64(transform(env_id, tag_values_c1.3, range(1, length(tag_values_c1.3) + 1), 0))) * (length(tag_values_c1.4) + 1) + toUInt64(transform(resource_id, tag_values_c1.4, range(1, length(tag_values_c1.4) + 1), 0))) * (length(tag_values_c1.5) + 1) + toUInt64(transform(product_category, tag_values_c1.5, range(1, length(tag_values_c1.5) + 1), 0))) * (length(tag_values_c1.6) + 1) + toUInt64(transform(product_type, tag_values_c1.6, range(1, length(tag_values_c1.6) + 1), 0))) * (length(tag_values_c1.7) + 1) + toUInt64(transform(identity_id, tag_values_c1.7, range(1, length(tag_values_c1.7) + 1), 0))) * (length(tag_values_c1.8) + 1) + toUInt64(transform(cost_type, tag_values_c1.8, range(1, length(tag_values_c1.8) + 1), 0)), tag_positions_c1.1, tag_positions_c1.2, toUInt32(indexOf(tag_values_c1.9, 'UNTAGGED'))) AS UInt32) AS number_1, CAST(transform(product_type, values_2, arrayEnumerate(values_2), 0) AS UInt32) AS number_2, toUInt32(1 * CAST(transform(chargebacks.cost_type, ['usage', 'shared', 'passed'], [1, 2, 3], 0) AS UInt8) + 4 * (timestamp >= {now_from:DateTime('UTC')}) + 8 * (toUInt8(provisional)) + 16 * (identity_id = 'UNALLOCATED') + 32 * CAST(transform(currency, values_3, arrayEnumerate(values_3), 0) AS UInt32)) AS marks, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n
    FROM chargebacks
    WHERE day >= {first_day:Date} AND day <= {last_day:Date}
    GROUP BY number_0, number_1, number_2, marks
  )
  )
    GROUP BY c0, c1, c2, c3
  )
  WINDOW of_currency AS (PARTITION BY c3)
)
WHERE rank <= {groups_limit:UInt32}
WINDOW shown AS (PARTITION BY c3)
ORDER BY c3, is_nobody, rank

-- {"first_day":"2026-03-01","last_day":"2026-03-05","tag_key_f0":"squad","tag_names_0":["payments","search"],"tag_key_f1":"stage","tag_names_1":["UNTAGGED"],"tag_key_c0":"squad","from":"2026-03-01 00:00:00","to":"2026-03-06 00:00:00","timezone":"UTC","bucket_limit":10000}
WITH
  tagged_f0 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_f0:String}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (
    SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String)),
      arraySort(arrayDistinct(arrayPushBack(groupUniqArray(name), 'UNTAGGED'))))
    FROM tagged_f0
  ) AS tag_values_f0,
  (
    SELECT (groupArray((((((((toUInt64(transform(ecosystem, tag_values_f0.1, range(1, length(tag_values_f0.1) + 1), 0))) * (length(tag_values_f0.2) + 1) + toUInt64(transform(tenant_id, tag_values_f0.2, range(1, length(tag_values_f0.2) + 1), 0))) * (length(tag_values_f0.3) + 1) + toUInt64(transform(env_id, tag_values_f0.3, range(1, length(tag_values_f0.3) + 1), 0))) * (length(tag_values_f0.4) + 1) + toUInt64(transform(resource_id, tag_values_f0.4, range(1, length(tag_values_f0.4) + 1), 0))) * (length(tag_values_f0.5) + 1) + toUInt64(transform(product_category, tag_values_f0.5, range(1, length(tag_values_f0.5) + 1), 0))) * (length(tag_values_f0.6) + 1) + toUInt64(transform(product_type, tag_values_f0.6, range(1, length(tag_values_f0.6) + 1), 0))) * (length(tag_values_f0.7) + 1) + toUInt64(transform(identity_id, tag_values_f0.7, range(1, length(tag_values_f0.7) + 1), 0))) * (length(tag_values_f0.8) + 1) + toUInt64(transform(cost_type, tag_values_f0.8, range(1, length(tag_values_f0.8) + 1), 0))), groupArray(toUInt32(transform(name, tag_values_f0.9, range(1, length(tag_values_f0.9) + 1), 0))))
    FROM tagged_f0
    WHERE NOT throwIf(toFloat64(length(tag_values_f0.1) + 1) * toFloat64(length(tag_values_f0.2) + 1) * toFloat64(length(tag_values_f0.3) + 1) * toFloat64(length(tag_values_f0.4) + 1) * toFloat64(length(tag_values_f0.5) + 1) * toFloat64(length(tag_values_f0.6) + 1) * toFloat64(length(tag_values_f0.7) + 1) * toFloat64(length(tag_values_f0.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  ) AS tag_places_f0,
  tagged_f1 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_f1:String}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (
    SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String)),
      arraySort(arrayDistinct(arrayPushBack(groupUniqArray(name), 'UNTAGGED'))))
    FROM tagged_f1
  ) AS tag_values_f1,
  (
    SELECT (groupArray((((((((toUInt64(transform(ecosystem, tag_values_f1.1, range(1, length(tag_values_f1.1) + 1), 0))) * (length(tag_values_f1.2) + 1) + toUInt64(transform(tenant_id, tag_values_f1.2, range(1, length(tag_values_f1.2) + 1), 0))) * (length(tag_values_f1.3) + 1) + toUInt64(transform(env_id, tag_values_f1.3, range(1, length(tag_values_f1.3) + 1), 0))) * (length(tag_values_f1.4) + 1) + toUInt64(transform(resource_id, tag_values_f1.4, range(1, length(tag_values_f1.4) + 1), 0))) * (length(tag_values_f1.5) + 1) + toUInt64(transform(product_category, tag_values_f1.5, range(1, length(tag_values_f1.5) + 1), 0))) * (length(tag_values_f1.6) + 1) + toUInt64(transform(product_type, tag_values_f1.6, range(1, length(tag_values_f1.6) + 1), 0))) * (length(tag_values_f1.7) + 1) + toUInt64(transform(identity_id, tag_values_f1.7, range(1, length(tag_values_f1.7) + 1), 0))) * (length(tag_values_f1.8) + 1) + toUInt64(transform(cost_type, tag_values_f1.8, range(1, length(tag_values_f1.8) + 1), 0))), groupArray(toUInt32(transform(name, tag_values_f1.9, range(1, length(tag_values_f1.9) + 1), 0))))
    FROM tagged_f1
    WHERE NOT throwIf(toFloat64(length(tag_values_f1.1) + 1) * toFloat64(length(tag_values_f1.2) + 1) * toFloat64(length(tag_values_f1.3) + 1) * toFloat64(length(tag_values_f1.4) + 1) * toFloat64(length(tag_values_f1.5) + 1) * toFloat64(length(tag_values_f1.6) + 1) * toFloat64(length(tag_values_f1.7) + 1) * toFloat64(length(tag_values_f1.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  ) AS tag_places_f1,
  tagged_c0 AS (
    SELECT d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id, d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type, d.identity_id AS identity_id, d.cost_type AS cost_type, t.display_name AS name
    FROM dimensions AS d
    ANY INNER JOIN (SELECT dimension_id, display_name FROM dimension_tags FINAL WHERE tag_key = {tag_key_c0:String}) AS t
      ON d.dimension_id = t.dimension_id
  ),
  (
    SELECT (groupUniqArray(CAST(ecosystem AS String)), groupUniqArray(CAST(tenant_id AS String)), groupUniqArray(CAST(env_id AS String)), groupUniqArray(CAST(resource_id AS String)), groupUniqArray(CAST(product_category AS String)), groupUniqArray(CAST(product_type AS String)), groupUniqArray(CAST(identity_id AS String)), groupUniqArray(CAST(cost_type AS String)),
      arraySort(arrayDistinct(arrayPushBack(groupUniqArray(name), 'UNTAGGED'))))
    FROM tagged_c0
  ) AS tag_values_c0,
  (
    SELECT (groupArray((((((((toUInt64(transform(ecosystem, tag_values_c0.1, range(1, length(tag_values_c0.1) + 1), 0))) * (length(tag_values_c0.2) + 1) + toUInt64(transform(tenant_id, tag_values_c0.2, range(1, length(tag_values_c0.2) + 1), 0))) * (length(tag_values_c0.3) + 1) + toUInt64(transform(env_id, tag_values_c0.3, range(1, length(tag_values_c0.3) + 1), 0))) * (length(tag_values_c0.4) + 1) + toUInt64(transform(resource_id, tag_values_c0.4, range(1, length(tag_values_c0.4) + 1), 0))) * (length(tag_values_c0.5) + 1) + toUInt64(transform(product_category, tag_values_c0.5, range(1, length(tag_values_c0.5) + 1), 0))) * (length(tag_values_c0.6) + 1) + toUInt64(transform(product_type, tag_values_c0.6, range(1, length(tag_values_c0.6) + 1), 0))) * (length(tag_values_c0.7) + 1) + toUInt64(transform(identity_id, tag_values_c0.7, range(1, length(tag_values_c0.7) + 1), 0))) * (length(tag_values_c0.8) + 1) + toUInt64(transform(cost_type, tag_values_c0.8, range(1, length(tag_values_c0.8) + 1), 0))), groupArray(toUInt32(transform(name, tag_values_c0.9, range(1, length(tag_values_c0.9) + 1), 0))))
    FROM tagged_c0
    WHERE NOT throwIf(toFloat64(length(tag_values_c0.1) + 1) * toFloat64(length(tag_values_c0.2) + 1) * toFloat64(length(tag_values_c0.3) + 1) * toFloat64(length(tag_values_c0.4) + 1) * toFloat64(length(tag_values_c0.5) + 1) * toFloat64(length(tag_values_c0.6) + 1) * toFloat64(length(tag_values_c0.7) + 1) * toFloat64(length(tag_values_c0.8) + 1) > 1e19, 'too many different values in tagged dimensions')
  ) AS tag_places_c0,
  (SELECT groupArray(value) FROM (SELECT currency AS value FROM chargebacks WHERE timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY value)) AS values_of_currency,
  (SELECT groupArray(value) FROM (SELECT identity_id AS value FROM chargebacks WHERE timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY value)) AS values_1
SELECT toUnixTimestamp(max(if(is_near, last, toDateTime(0, 'UTC')))),
  [toString(currency), toString(sumIf(total, is_near)), toString(sumIf(usage, is_near)), toString(sumIf(shared, is_near)), toString(sumIf(n, is_near)), toString(sumIf(buckets, is_near))],
  [toString(currency), toString(sumIf(total, 1)), toString(sumIf(usage, 1)), toString(sumIf(shared, 1)), toString(sumIf(n, 1)), toString(sumIf(buckets, 1))],
  toUInt8(max(unsteady))
FROM (
  SELECT *, bucket <= if(max(is_full) OVER (), minIf(bucket, is_full) OVER (), bucket) AS is_near
  FROM (
    SELECT *, sum(buckets) OVER (ORDER BY bucket) >= {bucket_limit:UInt32} AS is_full
    FROM (
      SELECT toDate(timestamp, {timezone:String}) AS bucket, values_of_currency[CAST(transform(chargebacks.currency, values_of_currency, arrayEnumerate(values_of_currency), 0) AS UInt16)] AS currency, max(timestamp) AS last, sum(amount_hi) + sum(amount_lo) AS total,
        sumIf(amount_hi, cost_type = 'usage') + sumIf(amount_lo, cost_type = 'usage') AS usage,
        sumIf(amount_hi, cost_type = 'shared') + sumIf(amount_lo, cost_type = 'shared') AS shared, count() AS n, groupBitmapState(toUInt64(((0) * length(tag_values_c0.9) + toUInt64(transform((((((((toUInt64(transform(ecosystem, tag_values_c0.1, range(1, length(tag_values_c0.1) + 1), 0))) * (length(tag_values_c0.2) + 1) + toUInt64(transform(tenant_id, tag_values_c0.2, range(1, length(tag_values_c0.2) + 1), 0))) * (length(tag_values_c0.3) + 1) + toUInt64(transform(env_id, tag_values_c0.3, range(1, length(tag_values_c0.3) + 1), 0))) * (length(tag_values_c0.4) + 1) + toUInt64(transform(resource_id, tag_values_c0.4, range(1, length(tag_values_c0.4) + 1), 0))) * (length(tag_values_c0.5) + 1) + toUInt64(transform(product_category, tag_values_c0.5, range(1, length(tag_values_c0.5) + 1), 0))) * (length(tag_values_c0.6) + 1) + toUInt64(transform(product_type, tag_values_c0.6, range(1, length(tag_values_c0.6) + 1), 0))) * (length(tag_values_c0.7) + 1) + toUInt64(transform(identity_id, tag_values_c0.7, range(1, length(tag_values_c0.7) + 1), 0))) * (length(tag_values_c0.8) + 1) + toUInt64(transform(cost_type, tag_values_c0.8, range(1, length(tag_values_c0.8) + 1), 0)), tag_places_c0.1, tag_places_c0.2, toUInt32(indexOf(tag_values_c0.9, 'UNTAGGED'))) - 1)) * length(values_1) + CAST(transform(identity_id, values_1, range(length(values_1)), intDiv(1152921504606846976 * 2, toUInt64(1))) AS UInt64))) AS found, bitmapCardinality(found) AS buckets,
        bitmapMax(found) >= 1152921504606846976 OR 1 * toFloat64(length(tag_values_c0.9)) * toFloat64(length(values_1)) > 1152921504606846976 OR CAST(transform(chargebacks.currency, values_of_currency, arrayEnumerate(values_of_currency), 0) AS UInt16) = 0 AS unsteady
      FROM chargebacks
      WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND resource_id IN (SELECT resource_id FROM tagged_f0 WHERE has({tag_names_0:Array(String)}, name)) AND identity_id IN (SELECT identity_id FROM tagged_f0 WHERE has({tag_names_0:Array(String)}, name)) AND has(arrayFilter(place -> has({tag_names_0:Array(String)}, tag_values_f0.9[place]), arrayEnumerate(tag_values_f0.9)), transform((((((((toUInt64(transform(ecosystem, tag_values_f0.1, range(1, length(tag_values_f0.1) + 1), 0))) * (length(tag_values_f0.2) + 1) + toUInt64(transform(tenant_id, tag_values_f0.2, range(1, length(tag_values_f0.2) + 1), 0))) * (length(tag_values_f0.3) + 1) + toUInt64(transform(env_id, tag_values_f0.3, range(1, length(tag_values_f0.3) + 1), 0))) * (length(tag_values_f0.4) + 1) + toUInt64(transform(resource_id, tag_values_f0.4, range(1, length(tag_values_f0.4) + 1), 0))) * (length(tag_values_f0.5) + 1) + toUInt64(transform(product_category, tag_values_f0.5, range(1, length(tag_values_f0.5) + 1), 0))) * (length(tag_values_f0.6) + 1) + toUInt64(transform(product_type, tag_values_f0.6, range(1, length(tag_values_f0.6) + 1), 0))) * (length(tag_values_f0.7) + 1) + toUInt64(transform(identity_id, tag_values_f0.7, range(1, length(tag_values_f0.7) + 1), 0))) * (length(tag_values_f0.8) + 1) + toUInt64(transform(cost_type, tag_values_f0.8, range(1, length(tag_values_f0.8) + 1), 0)), tag_places_f0.1, tag_places_f0.2, toUInt32(indexOf(tag_values_f0.9, 'UNTAGGED')))) AND has(arrayFilter(place -> has({tag_names_1:Array(String)}, tag_values_f1.9[place]), arrayEnumerate(tag_values_f1.9)), transform((((((((toUInt64(transform(ecosystem, tag_values_f1.1, range(1, length(tag_values_f1.1) + 1), 0))) * (length(tag_values_f1.2) + 1) + toUInt64(transform(tenant_id, tag_values_f1.2, range(1, length(tag_values_f1.2) + 1), 0))) * (length(tag_values_f1.3) + 1) + toUInt64(transform(env_id, tag_values_f1.3, range(1, length(tag_values_f1.3) + 1), 0))) * (length(tag_values_f1.4) + 1) + toUInt64(transform(resource_id, tag_values_f1.4, range(1, length(tag_values_f1.4) + 1), 0))) * (length(tag_values_f1.5) + 1) + toUInt64(transform(product_category, tag_values_f1.5, range(1, length(tag_values_f1.5) + 1), 0))) * (length(tag_values_f1.6) + 1) + toUInt64(transform(product_type, tag_values_f1.6, range(1, length(tag_values_f1.6) + 1), 0))) * (length(tag_values_f1.7) + 1) + toUInt64(transform(identity_id, tag_values_f1.7, range(1, length(tag_values_f1.7) + 1), 0))) * (length(tag_values_f1.8) + 1) + toUInt64(transform(cost_type, tag_values_f1.8, range(1, length(tag_values_f1.8) + 1), 0)), tag_places_f1.1, tag_places_f1.2, toUInt32(indexOf(tag_values_f1.9, 'UNTAGGED'))))
      GROUP BY bucket, CAST(transform(chargebacks.currency, values_of_currency, arrayEnumerate(values_of_currency), 0) AS UInt16))
  )
)
GROUP BY currency
ORDER BY currency

-- {"first_day":"2026-03-01","last_day":"2026-03-05","identity_id":["sa-1"],"not_identity_id":["sa-2","sa-3"],"resource_id":["r-1"],"product_type":["STORAGE"],"currency":["EUR"],"cost_type":["usage"],"timezone":"UTC"}
WITH
  (SELECT groupArray(value) FROM (SELECT currency AS value FROM published_sums_by_reason WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY value)) AS values_of_currency,
  (SELECT groupArray(value) FROM (SELECT identity_id AS value FROM published_sums_by_identity WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY value)) AS values_0,
  (SELECT groupArray(value) FROM (SELECT product_type AS value FROM published_sums_by_reason WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY value)) AS values_1,
  (SELECT groupArray(value) FROM (SELECT cost_type AS value FROM published_sums_by_reason WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY value)) AS values_2
SELECT CAST(bucket AS Int64), toUnixTimestamp(last), toString(currency),
  toString(total), toString(usage), toString(shared), n, buckets, toUInt8(changed_meanwhile)
FROM (
      SELECT toStartOfMonth(timestamp, {timezone:String}) AS bucket, values_of_currency[CAST(transform(chargebacks.currency, values_of_currency, arrayEnumerate(values_of_currency), 0) AS UInt16)] AS currency, max(timestamp) AS last, sum(amount_hi) + sum(amount_lo) AS total,
        sumIf(amount_hi, cost_type = 'usage') + sumIf(amount_lo, cost_type = 'usage') AS usage,
        sumIf(amount_hi, cost_type = 'shared') + sumIf(amount_lo, cost_type = 'shared') AS shared, count() AS n, groupBitmapState(toUInt64((((0) * length(values_0) + CAST(transform(identity_id, values_0, range(length(values_0)), intDiv(1152921504606846976 * 2, toUInt64(1) * greatest(length(values_1), 1) * greatest(length(values_2), 1))) AS UInt64)) * length(values_1) + CAST(transform(product_type, values_1, range(length(values_1)), intDiv(1152921504606846976 * 2, toUInt64(1) * greatest(length(values_2), 1))) AS UInt64)) * length(values_2) + CAST(transform(cost_type, values_2, range(length(values_2)), intDiv(1152921504606846976 * 2, toUInt64(1))) AS UInt64))) AS found, bitmapCardinality(found) AS buckets,
        bitmapMax(found) >= 1152921504606846976 OR 1 * toFloat64(length(values_0)) * toFloat64(length(values_1)) * toFloat64(length(values_2)) > 1152921504606846976 OR CAST(transform(chargebacks.currency, values_of_currency, arrayEnumerate(values_of_currency), 0) AS UInt16) = 0 AS changed_meanwhile
      FROM chargebacks
      WHERE day >= {first_day:Date} AND day <= {last_day:Date} AND identity_id IN {identity_id:Array(String)} AND identity_id NOT IN {not_identity_id:Array(String)} AND resource_id IN {resource_id:Array(String)} AND product_type IN {product_type:Array(String)} AND currency IN {currency:Array(String)} AND cost_type IN {cost_type:Array(String)}
      GROUP BY bucket, CAST(transform(chargebacks.currency, values_of_currency, arrayEnumerate(values_of_currency), 0) AS UInt16))
ORDER BY bucket, currency

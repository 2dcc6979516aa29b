-- {"first_day":"2026-03-01","last_day":"2026-03-05","timezone":"UTC"}
WITH
  (SELECT arraySort(arrayDistinct(arrayPushBack(groupUniqArray(toString(team)), 'UNASSIGNED'))) FROM identities) AS team_names,
  (
    SELECT (groupArray(identity_id), groupArray(toUInt32(transform(toString(team), team_names, range(1, length(team_names) + 1), 0))))
    FROM identities
  ) AS team_positions,
  (SELECT groupArray(value) FROM (SELECT currency AS value FROM published_sums_by_reason WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY value)) AS values_of_currency,
  (SELECT groupArray(value) FROM (SELECT product_type AS value FROM published_sums_by_reason WHERE day >= {first_day:Date} AND day <= {last_day:Date} GROUP BY value)) AS values_1
SELECT CAST(bucket AS Int64), toUnixTimestamp(last), toString(currency),
  toString(total), toString(usage), toString(shared), n, buckets, toUInt8(changed_meanwhile)
FROM (
    SELECT s.bucket AS bucket, s.currency AS currency, s.last AS last, s.total AS total, s.usage AS usage, s.shared AS shared, s.n AS n,
      c.buckets AS buckets, s.n != c.n OR c.changed_meanwhile AS changed_meanwhile
    FROM (
      SELECT toDate(timestamp, {timezone:String}) AS bucket, currency, max(timestamp) AS last, sum(hi) + sum(lo) AS total,
        sumIf(hi, cost_type = 'usage') + sumIf(lo, cost_type = 'usage') AS usage,
        sumIf(hi, cost_type = 'shared') + sumIf(lo, cost_type = 'shared') AS shared, sum(n) AS n
      FROM (
    SELECT timestamp, cost_type, currency, amount_hi AS hi, amount_lo AS lo, row_count AS n
    FROM published_sums_by_reason
    WHERE day >= {first_day:Date} AND day <= {last_day:Date}
  )
      GROUP BY bucket, currency
    ) AS s
    FULL JOIN (
      SELECT toDate(timestamp, {timezone:String}) AS bucket, values_of_currency[CAST(transform(chargebacks.currency, values_of_currency, arrayEnumerate(values_of_currency), 0) AS UInt16)] AS currency, groupBitmapState(toUInt64(((0) * length(team_names) + toUInt64(transform(identity_id, team_positions.1, team_positions.2, toUInt32(indexOf(team_names, 'UNASSIGNED'))) - 1)) * length(values_1) + CAST(transform(product_type, values_1, range(length(values_1)), intDiv(1152921504606846976 * 2, toUInt64(1))) AS UInt64))) AS found, bitmapCardinality(found) AS buckets,
        bitmapMax(found) >= 1152921504606846976 OR 1 * toFloat64(length(team_names)) * toFloat64(length(values_1)) > 1152921504606846976 OR CAST(transform(chargebacks.currency, values_of_currency, arrayEnumerate(values_of_currency), 0) AS UInt16) = 0 AS changed_meanwhile, count() AS n
      FROM chargebacks
      WHERE day >= {first_day:Date} AND day <= {last_day:Date}
      GROUP BY bucket, CAST(transform(chargebacks.currency, values_of_currency, arrayEnumerate(values_of_currency), 0) AS UInt16)
    ) AS c ON s.bucket = c.bucket AND s.currency = c.currency)
ORDER BY bucket, currency

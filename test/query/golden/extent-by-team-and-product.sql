-- {"first_day":"2026-03-01","last_day":"2026-03-05","from":"2026-03-01 00:00:00","to":"2026-03-06 00:00:00","timezone":"UTC","bucket_limit":10000}
WITH
  (SELECT arraySort(arrayDistinct(arrayPushBack(groupUniqArray(toString(team)), 'UNASSIGNED'))) FROM identities) AS team_names,
  (
    SELECT (groupArray(identity_id), groupArray(toUInt32(transform(toString(team), team_names, range(1, length(team_names) + 1), 0))))
    FROM identities
  ) AS team_places,
  (SELECT groupArray(value) FROM (SELECT product_type AS value FROM chargebacks WHERE timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')} GROUP BY value)) AS values_1
SELECT toUnixTimestamp(max(if(is_near, last, toDateTime(0, 'UTC')))),
  [toString(currency), toString(sumIf(total, is_near)), toString(sumIf(usage, is_near)), toString(sumIf(shared, is_near)), toString(sumIf(n, is_near)), toString(sumIf(buckets, is_near))],
  [toString(currency), toString(sumIf(total, 1)), toString(sumIf(usage, 1)), toString(sumIf(shared, 1)), toString(sumIf(n, 1)), toString(sumIf(buckets, 1))],
  max(unsteady)
FROM (
  SELECT *, bucket <= if(max(is_full) OVER (), minIf(bucket, is_full) OVER (), bucket) AS is_near
  FROM (
    SELECT *, sum(buckets) OVER (ORDER BY bucket) >= {bucket_limit:UInt32} AS is_full
    FROM (
      SELECT toDate(timestamp, {timezone:String}) AS bucket, currency, max(timestamp) AS last, sum(amount_hi) + sum(amount_lo) AS total,
        sumIf(amount_hi, cost_type = 'usage') + sumIf(amount_lo, cost_type = 'usage') AS usage,
        sumIf(amount_hi, cost_type = 'shared') + sumIf(amount_lo, cost_type = 'shared') AS shared, count() AS n,
        groupBitmapState(toUInt64(((0) * length(team_names) + toUInt64(transform(identity_id, team_places.1, team_places.2, toUInt32(indexOf(team_names, 'UNASSIGNED'))) - 1)) * length(values_1) + transform(product_type, values_1, range(length(values_1)), intDiv(1152921504606846976 * 2, toUInt64(1))))) AS found, bitmapCardinality(found) AS buckets,
        bitmapMax(found) >= 1152921504606846976 OR 1 * toFloat64(length(team_names)) * toFloat64(length(values_1)) > 1152921504606846976 AS unsteady
      FROM chargebacks
      WHERE day >= {first_day:Date} AND day <= {last_day:Date}
      GROUP BY bucket, currency)
  )
)
GROUP BY currency
ORDER BY currency

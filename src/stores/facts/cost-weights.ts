/**
 * SQL that both kinds of cost weights share: direct charges (`ingest/configured/derive-weights.ts`) and allocated costs
 * (`allocate/sql/allocated-weights.ts`).
 */
import { isOneOf, literal } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";

/**
 * Returns a statement that writes the facts of one metric. `costs` is a query of `target`, a day; `place`, in which
 * weights are compared; `identity`; and `cost`, an Int256 in 10^-18 of the currency of the place.
 *
 * Weights are rounded down to millionths, or to as many more decimals as give the largest weight of the place twelve
 * digits. Values that are not above 0 are no weights.
 */
export function insertCostWeights(epoch: number, metric: string, costs: string): string {
  return `
INSERT INTO ${stagedTable("usage", epoch)} (timestamp, metric, resource_id, identity_id, micro_units, scale)
SELECT toDateTime(target, 'UTC'), ${literal(metric)}, place, identity, toInt128(intDiv(cost, toInt256(intExp10(12 - scale)))) AS weight,
  if(rounded, toUInt8(least(12, greatest(0, 3 * ceil((5 - floor(log10(largest) - 18)) / 3)))), 0) AS scale
FROM (
  SELECT *, max(cost) OVER place_of_day AS largest, max(cost % 1000000000000 != 0) OVER place_of_day AS rounded
  FROM (${costs})
  WHERE cost > 0
  WINDOW place_of_day AS (PARTITION BY target, place)
)
WHERE weight > 0`;
}

/** Returns a condition, to append to another one: the identity is none of these names and matches none of the globs. */
export function isNotExcluded(identity: string, exclude: readonly string[]): string {
  return exclude.length === 0 ? "" : ` AND NOT ${isOneOf(identity, exclude)}`;
}

/** Returns SQL for the place in which costs are compared: the currency, or the currency and the value of a column. */
export function placeSql(value: string | undefined): string {
  return value === undefined ? "toString(currency)" : `concat(toString(currency), ':', ${value})`;
}

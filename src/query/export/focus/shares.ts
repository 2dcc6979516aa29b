/**
 * How the metrics of a line are split among its rows, in whole numbers. Each row stands for a stretch of the line's cost: from what the
 * rows before it have (`share_from`) to what they and it have (`share_to`), of `share_whole`. A metric is cut at the same places, down to
 * its last decimal place, so whatever it is, its parts add up to it, and the cost that was split comes out as it was split. The rows of
 * a line without cost have equal parts.
 */
import { lineKey } from "./lines.js";

/** As many places as are stored of amounts and quantities. */
const PLACES = 12;
/** Places of ratios. */
const RATIO_PLACES = 18;

const scaled = (sql: string, places: number) =>
  `toDecimal256(toString(${sql}), 0) * toDecimal256('${power(-places)}', ${places})`;

function power(exponent: number): string {
  return exponent < 0 ? `0.${"0".repeat(-exponent - 1)}1` : `1${"0".repeat(exponent)}`;
}

const ticks = (decimal: string) => `toInt256(${decimal} * toDecimal256('${power(PLACES)}', 0))`;

/**
 * Rows of chargebacks with the three numbers of their share.
 *
 * @param condition of days and lines: whatever it leaves has to be whole lines
 */
export function sharedRows(condition: string): string {
  const line = `PARTITION BY ${lineKey.join(", ")}`;
  const order = "ORDER BY component, tier, identity_id, cost_type, allocation_method, allocation_detail";
  return `
  SELECT *, if(line_ticks = 0, toInt256(line_rows), line_ticks) AS share_whole,
    if(line_ticks = 0, toInt256(place), ticks_until) AS share_to,
    if(line_ticks = 0, toInt256(place) - 1, ticks_until - ticks) AS share_from
  FROM (
    SELECT *, sum(ticks) OVER (${line}) AS line_ticks, count() OVER (${line}) AS line_rows,
      sum(ticks) OVER (${line} ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS ticks_until,
      row_number() OVER (${line} ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS place
    FROM (SELECT *, ${ticks("(amount_hi + amount_lo)")} AS ticks FROM chargebacks WHERE ${condition})
  )`;
}

/** A row's part of a metric of its line; null where that is null. */
export function partOf(metric: string): string {
  const until = (place: string) => `intDiv(${ticks(metric)} * ${place}, share_whole)`;
  return `CAST(${scaled(`(${until("share_to")} - ${until("share_from")})`, PLACES)} AS Nullable(Decimal(38, ${PLACES})))`;
}

/** A row's ratio of its line, as a number of JSON: those of a line add up to 1. */
export const ratio = (() => {
  const until = (place: string) => `intDiv(${place} * toInt256('${power(RATIO_PLACES)}'), share_whole)`;
  return `toString(CAST(${scaled(`(${until("share_to")} - ${until("share_from")})`, RATIO_PLACES)} AS Decimal(38, ${RATIO_PLACES})))`;
})();

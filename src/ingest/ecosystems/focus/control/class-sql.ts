/** SQL that classifies the lines of deliveries, and adds them up by day and currency. */
import type { Statement } from "../../../../clickhouse/statement.js";
import { isCharged, type LinesRequest, ofWindow } from "../lines/billing-lines.js";
import { dayOffsets, partOf, type Spread } from "../lines/charge-days.js";
import { lineFindings } from "../load/findings.js";
import type { CostColumn } from "../load/landing-columns.js";

export interface LinesToCount {
  readonly deliveries: readonly number[];
  /** SQL of `isCounted`. */
  readonly counted: string;
  readonly cost: CostColumn;
  readonly spread: Spread;
}

/** Sums of one group of lines. Amounts are plain decimals. */
export interface CountedLines {
  readonly delivery: string;
  /** `1970-01-01` for lines without a readable day. */
  readonly day: string;
  readonly currency: string;
  /** Empty for lines that belong to the bill, else the reason why they do not. */
  readonly reason: string;
  /** True if the cost of the lines is 0. */
  readonly is_zero: boolean;
  readonly rows: number;
  readonly cost: string;
  readonly billed: string;
  readonly effective: string;
}

export const NO_DAY = "1970-01-01";

/** The reason of lines that count in another file or delivery. */
export const SUPERSEDED = "superseded";

/**
 * The reason why a line is left out: it counts elsewhere, its first malformed finding, or `no_cost` if the charged
 * column has no value.
 */
function leftOutReason(cost: CostColumn, counted: string): string {
  const cases = lineFindings.flatMap((finding, bit) =>
    "malformed" in finding ? [`bitTest(findings, ${bit}), '${finding.id}'`] : [],
  );
  return `multiIf(NOT (${counted}), '${SUPERSEDED}', ${cases.join(", ")}, isNull(${cost}), 'no_cost', '')`;
}

/**
 * One row for each line, or for each day that a line is spread over. A spread line counts as one row, on its first day.
 * Its amounts count on the days that they are charged to, exactly as they are staged.
 */
function dayParts({ cost, spread, counted }: LinesToCount, where: string): string {
  const amount = (column: string) => `toDecimal256(${partOf(`ifNull(${column}, 0)`, spread)}, 12)`;
  const offsets =
    spread === "none"
      ? ""
      : ` ARRAY JOIN if(charge_day = toDate(0), [toUInt32(0)], ${dayOffsets(spread)}) AS day_offset`;
  const [day, first] =
    spread === "none" ? ["charge_day", "true"] : ["charge_day + day_offset", "day_offset = 0"];
  return `SELECT delivery, line_id, ${day} AS of_day, BillingCurrency AS currency, ${leftOutReason(cost, counted)} AS reason,
    ifNull(${cost}, 0) = 0 AS is_zero, ${first} AS is_first, ${amount(cost)} AS part_of_cost, ${amount("BilledCost")} AS part_of_billed, ${amount("EffectiveCost")} AS part_of_effective
  FROM focus_lines${offsets} WHERE delivery IN {deliveries:Array(UInt64)}${where}`;
}

const sums = `toUInt64(countIf(is_first)) AS rows, toString(sum(part_of_cost)) AS cost, toString(sum(part_of_billed)) AS billed, toString(sum(part_of_effective)) AS effective`;

/** Sums of all lines of the deliveries: rows of `CountedLines`. */
export function countLines(lines: LinesToCount): Statement {
  return {
    query: `SELECT toString(delivery) AS delivery, toString(of_day) AS day, currency, reason, is_zero, ${sums}
      FROM (${dayParts(lines, "")}) GROUP BY delivery, of_day, currency, reason, is_zero ORDER BY delivery, of_day, currency, reason, is_zero`,
    params: { deliveries: lines.deliveries },
  };
}

/**
 * Sums of the bill's lines on certain days, split by whether the published bill of the day has them: rows of
 * `CountedLines` with `is_published`.
 */
export function countPublished(lines: LinesToCount, days: readonly string[]): Statement {
  const published = "(of_day, line_id) IN (SELECT day, line_id FROM billing WHERE day IN {days:Array(Date)})";
  return {
    query: `SELECT toString(delivery) AS delivery, toString(of_day) AS day, currency, reason, is_zero, ${published} AS is_published, ${sums}
      FROM (${dayParts(lines, "")}) WHERE reason = '' AND of_day IN {days:Array(Date)}
      GROUP BY delivery, of_day, currency, reason, is_zero, is_published ORDER BY delivery, of_day, currency, is_zero, is_published`,
    params: { deliveries: lines.deliveries, days },
  };
}

/** Published amounts of each day and currency: rows `{day, currency, amount}`. */
export function publishedAmounts(): Statement {
  return {
    query: `SELECT toString(day) AS day, toString(currency) AS currency, toString(sum(toDecimal256(total_cost, 12))) AS amount
      FROM billing GROUP BY day, currency`,
    params: {},
  };
}

/**
 * Sums of the lines of a window on each of its days, independent of the statement that stages them: rows `{day,
 * currency, amount}`.
 */
export function billedOfWindow({ window, deliveries, counted, cost, spread }: LinesRequest): Statement {
  const lines = { deliveries, counted, cost, spread };
  return {
    query: `SELECT toString(of_day) AS day, currency, toString(sum(part_of_cost)) AS amount
      FROM (${dayParts(lines, ` AND (${ofWindow(spread)}) AND ${isCharged(cost)} AND ${counted}`)})
      WHERE of_day >= {start:Date} AND of_day < {end:Date} GROUP BY of_day, currency`,
    params: { deliveries, start: window.start, end: window.end },
  };
}

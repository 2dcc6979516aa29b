/**
 * Selects the lines that count: those that no newer delivery has replaced, and that do not count in another delivery.
 */
import { literal } from "../../../../clickhouse/sql-text.js";
import type { UncountedLines } from "../../../../postgres/retirement.js";
import { PERIOD, periodNumber } from "../load/period.js";

export interface PartlyCounted {
  readonly delivery_id: string;
  readonly retired: readonly UncountedLines[];
  readonly superseded: readonly UncountedLines[];
}

/**
 * Returns a condition on rows of `focus_lines`. Columns are qualified, because some statements also name results
 * `delivery` and `file`.
 */
export function isCounted(deliveries: readonly PartlyCounted[]): string {
  const uncounted = deliveries.flatMap(({ delivery_id, retired, superseded }) => {
    const parts = [...retired, ...superseded].map(partSql);
    return parts.length === 0
      ? []
      : [`(focus_lines.delivery = ${Number(delivery_id)} AND (${parts.join(" OR ")}))`];
  });
  return uncounted.length === 0 ? "true" : `NOT (${uncounted.join(" OR ")})`;
}

function partSql({ account, period, from, to, files }: UncountedLines): string {
  return [
    `BillingAccountId = ${literal(account)}`,
    `${PERIOD} = ${periodNumber(period)}`,
    ...(from === null ? [] : [`charge_day >= toDate(${literal(from)})`]),
    ...(to === null ? [] : [`charge_day <= toDate(${literal(to)})`]),
    ...(files === null ? [] : [`focus_lines.file IN (${files.map(Number).join(", ")})`]),
  ].join(" AND ");
}

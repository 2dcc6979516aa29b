/** Which lines of the deliveries that count do so: those that no newer delivery has replaced, and that count in no other one. */
import { literal } from "../../../../store/clickhouse/sql-text.js";
import type { Uncounted } from "../../../../store/postgres/retirement.js";
import { PERIOD, periodNumber } from "../load/period.js";

export interface PartlyCounted {
  readonly delivery_id: string;
  readonly retired: readonly Uncounted[];
  readonly superseded: readonly Uncounted[];
}

/** SQL of a condition on rows of `focus_lines`. Columns are qualified, because statements name results `delivery` and `file` as well. */
export function isCounted(deliveries: readonly PartlyCounted[]): string {
  const left = deliveries.flatMap(({ delivery_id, retired, superseded }) => {
    const parts = [...retired, ...superseded].map(partSql);
    return parts.length === 0
      ? []
      : [`(focus_lines.delivery = ${Number(delivery_id)} AND (${parts.join(" OR ")}))`];
  });
  return left.length === 0 ? "true" : `NOT (${left.join(" OR ")})`;
}

function partSql({ account, period, from, to, files }: Uncounted): string {
  return [
    `BillingAccountId = ${literal(account)}`,
    `${PERIOD} = ${periodNumber(period)}`,
    ...(from === null ? [] : [`charge_day >= toDate(${literal(from)})`]),
    ...(to === null ? [] : [`charge_day <= toDate(${literal(to)})`]),
    ...(files === null ? [] : [`focus_lines.file IN (${files.map(Number).join(", ")})`]),
  ].join(" AND ");
}

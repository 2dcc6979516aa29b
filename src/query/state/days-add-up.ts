/** Whether the bill of each day equals what was charged, and how much of it nobody pays. */
import type { ClickHouseClient } from "@clickhouse/client";
import { UNALLOCATED } from "../../config/allocation-rule.js";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";
import { readBill } from "../billing/read-bill.js";
import { instantsInWindow, isProjected, lineFilterColumns, rowsInWindow } from "../chargebacks/scan.js";
import { valueConditions } from "../value-filters.js";
import { type LinesInWindow, reconcileWindow } from "./reconcile.js";

/** Plain decimals of one currency: the bill is what is allocated and what is not, and the difference is 0. */
export interface AddedUp {
  readonly currency: string;
  readonly billing_amount: string;
  readonly allocated_amount: string;
  readonly unallocated_amount: string;
  /** What was charged less what was billed. */
  readonly difference: string;
  readonly chargeback_rows: number;
  /** Both only when lines were held against their chargebacks one by one. */
  readonly billing_lines?: number;
  readonly lines_off?: number;
}

export interface DayAddedUp extends AddedUp {
  readonly date: string;
  readonly provisional: boolean;
}

export interface DaysAddedUp {
  readonly days: DayAddedUp[];
  readonly totals: AddedUp[];
}

/** Rows of `SummedRow` by day and currency, and over all days, with an empty day. Without filters, chargebacks come from their projection by identity. */
export function summedDays({ window, filters }: LinesInWindow): Statement {
  const lines = rowsInWindow(window);
  const equal = valueConditions(lineFilterColumns, filters);
  const rows = isProjected(["timestamp", "currency", "identity_id"], filters)
    ? instantsInWindow(window)
    : lines;
  return {
    query: `
SELECT if(grouping(of_day) = 1, '', toString(of_day)) AS day, of_currency AS currency, toString(sum(billed)) AS billing_amount,
  toString(sumIf(charged, NOT nobody)) AS allocated_amount, toString(sumIf(charged, nobody)) AS unallocated_amount,
  toString(sum(charged) - sum(billed)) AS difference, sum(rows) AS chargeback_rows
FROM (
  SELECT toDate(timestamp, 'UTC') AS of_day, toString(currency) AS of_currency, false AS nobody, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged,
    toUInt64(0) AS rows
  FROM published_billing WHERE ${lines.condition}${equal.condition} GROUP BY of_day, of_currency
  UNION ALL
  SELECT toDate(timestamp, 'UTC') AS of_day, toString(currency) AS of_currency, identity_id = '${UNALLOCATED}' AS nobody, toDecimal128(0, 12),
    sum(amount_hi) + sum(amount_lo), count()
  FROM chargebacks WHERE ${rows.condition}${equal.condition} GROUP BY of_day, of_currency, nobody
)
GROUP BY GROUPING SETS ((of_day, of_currency), (of_currency))
ORDER BY day, currency`,
    params: { ...lines.params, ...rows.params, ...equal.params },
  };
}

export function provisionalDays(window: LinesInWindow["window"]): Statement {
  const { condition, params } = rowsInWindow(window);
  return {
    query: `SELECT DISTINCT day FROM chargebacks WHERE provisional AND ${condition}`,
    params,
  };
}

interface SummedRow extends AddedUp {
  readonly day: string;
}

/**
 * By day and over all days. The sums are cheap; `byLine` also holds every line against its chargebacks, so that differences that
 * cancel out are found (5 M rows, a million lines: 0.3 s of processor time, and 2.2 s with it).
 */
export async function readDaysAddedUp(
  client: ClickHouseClient,
  { byLine, ...lines }: LinesInWindow & { readonly byLine: boolean },
  signal?: AbortSignal,
): Promise<DaysAddedUp> {
  const [sums, marked, held] = await Promise.all([
    readBill<SummedRow>(client, summedDays(lines), signal),
    readRows<{ readonly day: string }>(client, provisionalDays(lines.window), signal),
    byLine ? reconcileWindow(client, lines, signal) : undefined,
  ]);
  const provisional = new Set(marked.map(({ day }) => day));
  const keyOf = (day: string, currency: string) => `${day} ${currency}`;
  const known = new Map([
    ...(held?.days ?? []).map((row) => [keyOf(row.day, row.currency), row] as const),
    ...(held?.totals ?? []).map((row) => [keyOf("", row.currency), row] as const),
  ]);
  const added = ({ day, ...row }: SummedRow): AddedUp => {
    const byLines = known.get(keyOf(day, row.currency));
    return {
      ...row,
      ...(byLine && {
        billing_lines: Number(byLines?.lines ?? 0),
        lines_off: Number(byLines?.lines_off ?? 0),
      }),
    };
  };
  return {
    days: sums
      .filter(({ day }) => day !== "")
      .map((row) => ({ date: row.day, ...added(row), provisional: provisional.has(row.day) })),
    totals: sums.filter(({ day }) => day === "").map(added),
  };
}

/** Whether the bill of each day is what was charged, and how much of it nobody pays. */
import type { ClickHouseClient } from "@clickhouse/client";
import { UNALLOCATED } from "../../config/allocation-rule.js";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";
import { instantsInWindow } from "../chargebacks/scan.js";
import type { DateWindow } from "../time/date-window.js";
import { reconcileWindow } from "./reconcile.js";

/** Plain decimals of one currency: the bill is what is allocated and what is not, and the difference is 0. */
export interface AddedUp {
  readonly currency: string;
  readonly billing_amount: string;
  readonly allocated_amount: string;
  readonly unallocated_amount: string;
  /** What was charged less what was billed. */
  readonly difference: string;
  readonly billing_lines: number;
  readonly chargeback_rows: number;
  readonly lines_off: number;
}

export interface DayAddedUp extends AddedUp {
  readonly date: string;
  readonly provisional: boolean;
}

export interface DaysAddedUp {
  readonly days: DayAddedUp[];
  readonly totals: AddedUp[];
}

type Window = Pick<DateWindow, "from" | "to">;

/** Rows `{day, currency, allocated, unallocated}`, also for all days together, with an empty day. */
export function allocatedAmounts(window: Window): Statement {
  const { condition, params } = instantsInWindow(window);
  const sum = (of: string) => `toString(sumIf(hi, ${of}) + sumIf(lo, ${of}))`;
  return {
    query: `
SELECT if(grouping(charged_day) = 1, '', toString(charged_day)) AS day, toString(of_currency) AS currency,
  ${sum(`identity_id != '${UNALLOCATED}'`)} AS allocated, ${sum(`identity_id = '${UNALLOCATED}'`)} AS unallocated
FROM (
  SELECT toDate(timestamp, 'UTC') AS charged_day, currency AS of_currency, identity_id, sum(amount_hi) AS hi, sum(amount_lo) AS lo
  FROM chargebacks WHERE ${condition} GROUP BY timestamp, currency, identity_id
)
GROUP BY GROUPING SETS ((charged_day, of_currency), (of_currency))`,
    params,
  };
}

export function provisionalDays(window: Window): Statement {
  const { condition, params } = instantsInWindow(window);
  return {
    query: `SELECT DISTINCT toString(day) AS day FROM chargebacks WHERE provisional AND ${condition}`,
    params,
  };
}

interface AllocatedRow {
  readonly day: string;
  readonly currency: string;
  readonly allocated: string;
  readonly unallocated: string;
}

export async function readDaysAddedUp(
  client: ClickHouseClient,
  window: Window,
  signal?: AbortSignal,
): Promise<DaysAddedUp> {
  const [{ days, totals }, amounts, marked] = await Promise.all([
    reconcileWindow(client, window, signal),
    readRows<AllocatedRow>(client, allocatedAmounts(window), signal),
    readRows<{ readonly day: string }>(client, provisionalDays(window), signal),
  ]);
  const known = new Map(amounts.map((row) => [`${row.day} ${row.currency}`, row]));
  const provisional = new Set(marked.map(({ day }) => day));
  const added = (day: string, row: (typeof totals)[number]): AddedUp => ({
    currency: row.currency,
    billing_amount: row.billing,
    allocated_amount: known.get(`${day} ${row.currency}`)?.allocated ?? "0",
    unallocated_amount: known.get(`${day} ${row.currency}`)?.unallocated ?? "0",
    difference: row.difference,
    billing_lines: Number(row.lines),
    chargeback_rows: Number(row.rows),
    lines_off: Number(row.lines_off),
  });
  return {
    days: days.map((row) => ({
      date: row.day,
      ...added(row.day, row),
      provisional: provisional.has(row.day),
    })),
    totals: totals.map((row) => added("", row)),
  };
}

import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import { type Ledger, ledgers, lineKeySql, rowKeySql } from "../../domain/ledger.js";
import { type LineFilters, lineFilterColumns, rowsInWindow } from "../chargebacks/scan.js";
import { valueConditions } from "../value-filters.js";

/** Billing lines of the UTC days of a window. */
export interface LinesInWindow {
  readonly window: InstantRange;
  readonly filters: LineFilters;
}

/** Decimal sums of a currency on a day (or on all days), and how many billing lines differ from their chargebacks. */
export interface DayReconciliation {
  readonly day: string;
  readonly currency: string;
  readonly lines: string;
  readonly rows: string;
  readonly billing: string;
  readonly chargebacks: string;
  readonly difference: string;
  /** Lines that differ from the sum of their chargebacks. Rows without a line count as one such line. */
  readonly lines_off: string;
}

export interface Reconciliation {
  /** By day and currency. */
  readonly days: readonly DayReconciliation[];
  /** Over all days, by currency. */
  readonly totals: readonly Omit<DayReconciliation, "day">[];
}

/**
 * Compares all published chargebacks with all published billing, line by line, so that differences that cancel out in a
 * day's sum are found, too.
 */
function reconciliationQuery(lineCondition = "", rowCondition = ""): string {
  return compareWithBill(`published_billing${lineCondition}`, ledgers.chargebacks, rowCondition);
}

/**
 * Compares all published attributions to topics with the lines that were attributed: those of product types that have
 * attributions on their day. The sums in `chargebacks` are those of the attributions.
 */
function attributionReconciliationQuery(): string {
  const attributed =
    "published_billing WHERE (day, product_type) IN (SELECT day, product_type FROM topic_attributions)";
  return compareWithBill(attributed, ledgers.topic_attributions);
}

/** `where` selects rows of the ledger. */
function compareWithBill(lines: string, ledger: Ledger, where = ""): string {
  return `
SELECT if(grouping(billed_day) = 0, toString(billed_day), '') AS day, currency, toString(countIf(billed_lines > 0)) AS lines, toString(sum(n)) AS rows,
  toString(sum(billed)) AS billing, toString(sum(charged)) AS chargebacks, toString(sum(charged) - sum(billed)) AS difference,
  toString(countIf(billed != charged OR n = 0 OR billed_lines = 0)) AS lines_off
FROM (
  SELECT toDate(timestamp, 'UTC') AS billed_day, toString(currency) AS currency, sum(b) AS billed, sum(c) AS charged, sum(lines) AS billed_lines, sum(r) AS n
  FROM (
    SELECT ${lineKeySql(ledger)}, total_cost AS b, toDecimal128(0, 12) AS c, toUInt64(1) AS lines, toUInt64(0) AS r
    FROM ${lines}
    UNION ALL
    SELECT ${rowKeySql(ledger)}, toDecimal128(0, 12), sum(amount_hi) + sum(amount_lo), toUInt64(0), count()
    FROM ${ledger.name}${where} GROUP BY ${rowKeySql(ledger)}
  )
  GROUP BY ${lineKeySql(ledger)}
)
GROUP BY GROUPING SETS ((billed_day, currency), (currency)) ORDER BY billed_day, currency`;
}

export async function reconcileDays(client: ClickHouseClient, signal: AbortSignal): Promise<Reconciliation> {
  return await reconcile(client, { query: reconciliationQuery(), params: {} }, signal);
}

/** Reconciles the UTC days of a window, for lines that match the filters. */
export async function reconcileWindow(
  client: ClickHouseClient,
  { window, filters }: LinesInWindow,
  signal?: AbortSignal,
): Promise<Reconciliation> {
  const inWindow = rowsInWindow(window);
  const filter = valueConditions(lineFilterColumns, filters);
  const where = ` WHERE ${inWindow.condition}${filter.condition}`;
  const query = reconciliationQuery(where, where);
  const params = { ...inWindow.params, ...filter.params };
  return await reconcile(client, { query, params }, signal);
}

/** Reconciles days with attributions to topics; none if costs were never attributed. */
export async function reconcileAttributions(
  client: ClickHouseClient,
  signal: AbortSignal,
): Promise<Reconciliation> {
  return await reconcile(client, { query: attributionReconciliationQuery(), params: {} }, signal);
}

/** Throws if the totals are missing: the response was cut off. */
async function reconcile(
  client: ClickHouseClient,
  statement: Statement,
  signal?: AbortSignal,
): Promise<Reconciliation> {
  const rows = await readRows<DayReconciliation>(client, statement, signal);
  const days = rows.filter(({ day }) => day !== "");
  const totals = rows.filter(({ day }) => day === "");
  if (days.some(({ currency }) => !totals.some((total) => total.currency === currency)))
    throw new Error("the reconciliation has no total");
  return { days, totals };
}

/** Summarises a file: rows, periods, and sums of costs. */
import type { ClickHouseClient } from "@clickhouse/client";
import { identifier } from "../../clickhouse/sql-text.js";
import { readRows } from "../../clickhouse/statement.js";
import type { FocusFile } from "../map-columns.js";
import { clean } from "./clean.js";
import { type CheckedTotals, costs, type FocusReport } from "./report.js";
import { decimalSql, instantSql, isoText, ROWS } from "./sql.js";

/** The largest number of periods and currencies to list. */
const MAX_PERIODS = 12;
const MAX_CURRENCIES = 12;

type Summary = Pick<
  FocusReport,
  "rows" | "billing_periods" | "more_billing_periods" | "charge_period" | "totals" | "more_currencies"
>;

export async function summariseCheck(
  client: ClickHouseClient,
  file: FocusFile,
  signal?: AbortSignal,
): Promise<Summary> {
  const read = <Row>(query: string) => readRows<Row>(client, { query, params: {} }, signal);
  const text = (name: string) =>
    file.has(name) ? `coalesce(${isoText(instantSql(name))}, ${identifier(name)})` : "NULL";
  const time = (name: string) => (file.has(name) ? instantSql(name) : "NULL::Nullable(DateTime64(3, 'UTC'))");
  const [charges] = await read<{ rows: number; start: string | null; end: string | null }>(
    `SELECT count() AS rows, ${isoText(`min(${time("ChargePeriodStart")})`)} AS start, ${isoText(`max(${time("ChargePeriodEnd")})`)} AS end FROM ${ROWS}`,
  );
  const periods = await read<{ start: string | null; end: string | null; rows: number; found: number }>(
    `SELECT toValidUTF8(leftUTF8(${text("BillingPeriodStart")}, 100)) AS start, toValidUTF8(leftUTF8(${text("BillingPeriodEnd")}, 100)) AS end,
       count() AS rows, count() OVER () AS found
     FROM ${ROWS} GROUP BY start, end ORDER BY start, end LIMIT ${MAX_PERIODS}`,
  );
  // Larger numbers could overflow the sum silently. The check number-digits reports them.
  const sums = costs.map((cost) =>
    file.has(cost)
      ? `toString(sumIf(${decimalSql(cost)}, abs(${decimalSql(cost)}) < toDecimal256('1e20', 0))) AS ${cost}`
      : `NULL AS ${cost}`,
  );
  const currency = file.has("BillingCurrency") ? "toValidUTF8(leftUTF8(BillingCurrency, 100))" : "NULL";
  const totals = await read<CheckedTotals & { found: number }>(
    `SELECT ${currency} AS currency, count() AS rows, ${sums.join(", ")}, count() OVER () AS found
     FROM ${ROWS} GROUP BY currency ORDER BY rows DESC, currency LIMIT ${MAX_CURRENCIES}`,
  );
  return {
    rows: charges?.rows ?? 0,
    billing_periods: periods.map(({ start, end, rows }) => ({
      start: cleaned(start),
      end: cleaned(end),
      rows,
    })),
    more_billing_periods: (periods[0]?.found ?? 0) - periods.length,
    charge_period: { start: charges?.start ?? null, end: charges?.end ?? null },
    totals: totals.map(({ found: _, ...each }) => ({ ...each, currency: cleaned(each.currency) })),
    more_currencies: (totals[0]?.found ?? 0) - totals.length,
  };
}

function cleaned(text: string | null): string | null {
  return text === null ? null : clean(text, 24);
}

/** The columns of an export for people: those of the API, and the currency where amounts in several would stand in one column. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";
import { rowsInWindow } from "../chargebacks/scan.js";
import type { DateWindow } from "../time/date-window.js";
import { defaultExportColumns, type ExportColumn } from "./columns.js";

/** The currencies of a window's chargebacks, two at most. */
export function currenciesInWindow(window: DateWindow): Statement {
  const { condition, params } = rowsInWindow(window);
  return { query: `SELECT DISTINCT currency FROM chargebacks WHERE ${condition} LIMIT 2`, params };
}

/** The default columns, with `currency` behind `amount` if the window has several currencies. */
export async function columnsWithCurrency(
  client: ClickHouseClient,
  window: DateWindow,
  signal: AbortSignal,
): Promise<readonly ExportColumn[]> {
  const currencies = await readRows(client, currenciesInWindow(window), signal);
  if (currencies.length < 2) return defaultExportColumns;
  return defaultExportColumns.flatMap((column) => (column === "amount" ? [column, "currency"] : [column]));
}

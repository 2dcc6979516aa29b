/**
 * The columns of an export for people: those of the API, plus the currency if one column would mix amounts in several.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../clickhouse/statement.js";
import { rowsInWindow } from "../query/chargebacks/scan.js";
import type { DateWindow } from "../query/time/date-window.js";
import { defaultExportColumns, type ExportColumn } from "./columns.js";

/** Selects the currencies of a window's chargebacks, two at most. */
export function currenciesInWindow(window: DateWindow): Statement {
  const { condition, params } = rowsInWindow(window);
  return { query: `SELECT DISTINCT currency FROM chargebacks WHERE ${condition} LIMIT 2`, params };
}

/** Returns the default columns, with `currency` after `amount` if the window has several currencies. */
export async function columnsWithCurrency(
  client: ClickHouseClient,
  window: DateWindow,
  signal: AbortSignal,
): Promise<readonly ExportColumn[]> {
  const currencies = await readRows(client, currenciesInWindow(window), signal);
  if (currencies.length < 2) return defaultExportColumns;
  return defaultExportColumns.flatMap((column) => (column === "amount" ? [column, "currency"] : [column]));
}

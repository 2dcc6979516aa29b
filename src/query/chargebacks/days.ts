/** How many chargeback rows each UTC day has under the filters: what paging, the export and the list of dates start from. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";
import type { DateWindow } from "../time/date-window.js";
import {
  type ChargebackFilters,
  filtered,
  instantsInWindow,
  isProjected,
  rowsInWindow,
  withNames,
} from "./scan.js";

/**
 * Rows `{day, rows}`, days ascending. Without filters and over whole UTC days the engine answers from its own counts per
 * partition (2 ms on 5 M rows); with one filter mostly from a projection.
 */
export function chargebackDays(
  window: Pick<DateWindow, "from" | "to">,
  filters: ChargebackFilters,
): Statement {
  const { names, condition: equal, params: values } = filtered(filters);
  const inWindow = rowsInWindow(window);
  const wholeDays = inWindow.params.from === undefined;
  if ((wholeDays && equal === "") || !isProjected([], filters)) {
    return {
      query: `${withNames(...names)}SELECT day, count() AS rows FROM chargebacks WHERE ${inWindow.condition}${equal} GROUP BY day ORDER BY day`,
      params: { ...inWindow.params, ...values },
    };
  }
  const instants = instantsInWindow(window);
  return {
    query: `
SELECT toDate(timestamp, 'UTC') AS day, sum(rows_of_instant) AS rows
FROM (SELECT timestamp, count() AS rows_of_instant FROM chargebacks WHERE ${instants.condition}${equal} GROUP BY timestamp)
GROUP BY day
ORDER BY day`,
    params: { ...instants.params, ...values },
  };
}

/** Every UTC day that has chargeback rows, ascending. */
export function chargebackDates(): Statement {
  return { query: "SELECT day FROM chargebacks GROUP BY day ORDER BY day", params: {} };
}

export async function readChargebackDates(client: ClickHouseClient, signal?: AbortSignal): Promise<string[]> {
  return (await readRows<{ day: string }>(client, chargebackDates(), signal)).map(({ day }) => day);
}

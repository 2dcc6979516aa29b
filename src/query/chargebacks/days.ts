/** Chargeback rows per UTC day under the filters, for paging, the export and the list of dates. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import {
  type ChargebackFilters,
  chargebacks,
  filtered,
  rowsInWindow,
  summedRows,
  withNames,
} from "./scan.js";

/**
 * Selects `{day, rows}`, days ascending. Without filters, the engine counts whole UTC days from metadata (2 ms on 5 M
 * rows).
 */
export function chargebackDays(window: InstantRange, filters: ChargebackFilters): Statement {
  const { names, condition: filter, params: values } = filtered(filters);
  const { condition, params } = rowsInWindow(window);
  const isFromMetadata = params.from === undefined && filter === "";
  const { from, count } = isFromMetadata ? chargebacks : summedRows([], filters);
  return {
    query: `${withNames(...names)}SELECT day, ${count} AS rows FROM ${from} WHERE ${condition}${filter} GROUP BY day ORDER BY day`,
    params: { ...params, ...values },
  };
}

/** Selects every UTC day that has chargeback rows, ascending. */
export function chargebackDates(): Statement {
  return { query: "SELECT day FROM chargebacks GROUP BY day ORDER BY day", params: {} };
}

export async function readChargebackDates(client: ClickHouseClient, signal?: AbortSignal): Promise<string[]> {
  return (await readRows<{ day: string }>(client, chargebackDates(), signal)).map(({ day }) => day);
}

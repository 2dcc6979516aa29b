/** A page of billing line items, in the order of the table's key, UTC day first. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";
import { columnsOf, factTableColumns, type ShownValues, shownColumns } from "../../store/fact-tables.js";
import { type LineFilters, lineFilterColumns, rowsInWindow } from "../chargebacks/scan.js";
import { type ResourceNames, readNames } from "../inventory/names.js";
import { type CountDays, type DayCount, type PageRequest, type PageSpan, totalRows } from "../page/days.js";
import { beforePlace, fromPlace, type OrderColumns, type Place } from "../page/keyset.js";
import { type Pages, readOrderedPages } from "../page/keyset-page.js";
import { pick } from "../page/pick.js";
import type { DateWindow } from "../time/date-window.js";
import { valueConditions } from "../value-filters.js";

/** Behind `day`. */
export const billingKey: OrderColumns = {
  resource_id: "String",
  product_type: "String",
  env_id: "String",
  product_category: "String",
  timestamp: "DateTime('UTC')",
};

/** Lines may be the same in all of that: what else differs puts them in order, at no cost. */
const order = [
  ...["day", ...Object.keys(billingKey)],
  ...columnsOf("billing").flatMap(([name, { statedBy, line }]) =>
    (statedBy !== undefined && line !== "key") || Object.hasOwn(billingKey, name) ? [] : [`b.${name}`],
  ),
].join(", ");

const shown = shownColumns("billing");
/** As they are stored; decimals as text. */
const stored = shown.map((name) =>
  factTableColumns.billing[name].kind === "decimal" ? `toString(b.${name}) AS ${name}` : name,
);
const read = [...new Set([...stored, ...Object.keys(billingKey)])];

export interface BillingListInput extends PageRequest {
  readonly window: DateWindow;
  readonly filters: LineFilters;
  /** Behind this place instead of the page's number. */
  readonly place?: Place | undefined;
  readonly countDays: CountDays;
}

/** Instants are `2026-01-01T00:00:00Z`, decimals plain. */
export interface BillingLineItem extends Omit<ShownValues<"billing">, "metadata">, ResourceNames {
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Rows `{day, rows}`, days ascending. */
export function billingDays(window: DateWindow, filters: LineFilters): Statement {
  const { condition, params } = rowsInWindow(window);
  const equal = valueConditions(lineFilterColumns, filters);
  return {
    query: `SELECT day, count() AS rows FROM published_billing WHERE ${condition}${equal.condition} GROUP BY day ORDER BY day`,
    params: { ...params, ...equal.params },
  };
}

export function billingPage(
  { window, filters, place }: Omit<BillingListInput, keyof PageRequest | "countDays">,
  span: PageSpan,
  rows: number,
): Statement {
  const { condition, params } = rowsInWindow(window, span);
  const equal = valueConditions(lineFilterColumns, filters);
  const behind = fromPlace(billingKey, place, span);
  return {
    query: `
SELECT ${read.join(", ")}
FROM published_billing AS b
WHERE ${condition}${equal.condition}${behind.condition}
ORDER BY ${order}
LIMIT {rows:UInt32} OFFSET {offset:UInt64}`,
    params: { ...params, ...equal.params, ...behind.params, rows, offset: span.offset },
  };
}

/** Rows `{day, rows}`: of the place's day, how many lie before it. */
export function billingBefore(
  { window, filters }: Pick<BillingListInput, "window" | "filters">,
  place: Place,
): Statement {
  const { condition, params } = rowsInWindow(window);
  const equal = valueConditions(lineFilterColumns, filters);
  const before = beforePlace(billingKey, place);
  return {
    query: `SELECT day, count() AS rows FROM published_billing WHERE ${condition}${equal.condition}${before.condition} GROUP BY day`,
    params: { ...params, ...equal.params, ...before.params },
  };
}

type StoredLine = Omit<BillingLineItem, "metadata" | keyof ResourceNames> & {
  metadata: string;
  env_id: string;
};

export async function readBillingPages(
  client: ClickHouseClient,
  input: BillingListInput,
  signal?: AbortSignal,
): Promise<Pages<BillingLineItem>> {
  const {
    items: rows,
    total,
    next,
  } = await readOrderedPages<StoredLine>({
    columns: billingKey,
    days: await input.countDays(() =>
      readRows<DayCount>(client, billingDays(input.window, input.filters), signal),
    ),
    page: input,
    place: input.place,
    read: (span, rows, settings) => readRows(client, billingPage(input, span, rows), signal, settings),
    countBefore: async (place) =>
      totalRows(await readRows<DayCount>(client, billingBefore(input, place), signal)),
  });
  const names = await readNames(client, rows, signal);
  const items = rows.map((row) => {
    const stored = JSON.parse(row.metadata || "{}") as Record<string, unknown>;
    const metadata: Record<string, unknown> = { ...(row.env_id !== "" && { env_id: row.env_id }), ...stored };
    return Object.assign(pick(row, shown), names.resource(row.resource_id), { metadata });
  });
  return { items, total, next };
}

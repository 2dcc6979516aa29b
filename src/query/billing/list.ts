/** A page of billing line items, in the order of the table's key, UTC day first. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";
import { equalTo, rowsInWindow } from "../chargebacks/scan.js";
import { type ResourceNames, readNames } from "../inventory/names.js";
import { type PageRequest, type PageSpan, readDayCounts, totalRows } from "../page/days.js";
import { beforePlace, fromPlace, type OrderColumns, orderValuesSql, type Place } from "../page/keyset.js";
import { type OrderedRow, readOrderedPage } from "../page/keyset-page.js";
import type { DateWindow } from "../time/date-window.js";

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
  ...["total_cost", "quantity", "unit_price", "currency", "granularity", "metadata"].map(
    (column) => `b.${column}`,
  ),
].join(", ");

export interface BillingFilters {
  readonly product_type?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly currency?: string | undefined;
}

export interface BillingListInput extends PageRequest {
  readonly window: DateWindow;
  readonly filters: BillingFilters;
  /** Behind this place instead of the page's number. */
  readonly place?: Place | undefined;
}

export interface BillingLineItem extends ResourceNames {
  readonly ecosystem: string;
  readonly tenant_id: string;
  /** `2026-01-01T00:00:00Z`. */
  readonly timestamp: string;
  readonly resource_id: string;
  readonly product_category: string;
  readonly product_type: string;
  /** Plain decimals. */
  readonly quantity: string;
  readonly unit_price: string;
  readonly total_cost: string;
  readonly currency: string;
  readonly granularity: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Rows `{day, rows}`, days ascending. */
export function billingDays(window: DateWindow, filters: BillingFilters): Statement {
  const { condition, params } = rowsInWindow(window);
  const equal = equalTo(filters);
  return {
    query: `SELECT day, count() AS rows FROM billing WHERE ${condition}${equal.condition} GROUP BY day ORDER BY day`,
    params: { ...params, ...equal.params },
  };
}

export function billingPage(
  { window, filters, place }: Omit<BillingListInput, keyof PageRequest>,
  span: PageSpan,
  rows: number,
): Statement {
  const { condition, params } = rowsInWindow(window);
  const equal = equalTo(filters);
  const behind = fromPlace(billingKey, place);
  return {
    query: `
SELECT ecosystem, tenant_id, timestamp, resource_id, product_category, product_type, toString(b.quantity) AS quantity,
  toString(b.unit_price) AS unit_price, toString(b.total_cost) AS total_cost, currency, granularity, metadata,
  ${orderValuesSql(billingKey)} AS order_values
FROM billing AS b
WHERE ${condition}${equal.condition} AND day >= {page_first:Date} AND day <= {page_last:Date}${behind.condition}
ORDER BY ${order}
LIMIT {rows:UInt32} OFFSET {offset:UInt64}`,
    params: {
      ...{ ...params, ...equal.params, ...behind.params },
      ...{ page_first: span.first_day, page_last: span.last_day, rows, offset: span.offset },
    },
  };
}

/** Rows `{day, rows}`: of the place's day, how many lie before it. */
export function billingBefore(
  { window, filters }: Pick<BillingListInput, "window" | "filters">,
  place: Place,
): Statement {
  const { condition, params } = rowsInWindow(window);
  const equal = equalTo(filters);
  const before = beforePlace(billingKey, place);
  return {
    query: `SELECT day, count() AS rows FROM billing WHERE ${condition}${equal.condition}${before.condition} GROUP BY day`,
    params: { ...params, ...equal.params, ...before.params },
  };
}

type StoredLine = Omit<BillingLineItem, "metadata" | keyof ResourceNames> & OrderedRow & { metadata: string };

export async function readBillingPage(
  client: ClickHouseClient,
  input: BillingListInput,
  signal?: AbortSignal,
): Promise<{ items: BillingLineItem[]; total: number; next: Place | undefined }> {
  const { rows, total, next } = await readOrderedPage<StoredLine>({
    columns: billingKey,
    days: await readDayCounts(client, billingDays(input.window, input.filters), signal),
    page: input,
    place: input.place,
    read: (span, rows) => readRows(client, billingPage(input, span, rows), signal),
    countBefore: async (place) => totalRows(await readDayCounts(client, billingBefore(input, place), signal)),
  });
  const names = await readNames(client, rows, signal);
  const items = rows.map(({ order_values: _, ...row }) => ({
    ...row,
    ...names.resource(row.resource_id),
    metadata: JSON.parse(row.metadata || "{}") as Record<string, unknown>,
  }));
  return { items, total, next };
}

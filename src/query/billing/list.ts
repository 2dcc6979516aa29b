/** A page of billing lines, in the order of the table's key, UTC day first. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import { columnsOf, factTableColumns, type ShownValues, shownColumns } from "../../domain/fact-tables.js";
import { type LineFilters, lineFilterColumns, rowsInWindow } from "../chargebacks/scan.js";
import { type ResourceNames, readNames } from "../inventory/names.js";
import {
  beforePosition,
  type CountDays,
  type DayCount,
  fromPosition,
  type OrderColumns,
  type PagePosition,
  type PageRequest,
  type PageSpan,
  totalRows,
} from "../page/position.js";
import { type Pages, pick, readOrderedPages } from "../page/read-pages.js";
import type { DateWindow } from "../time/date-window.js";
import { valueConditions } from "../value-filters.js";

/** The order after `day`. */
export const billingKey: OrderColumns = {
  resource_id: "String",
  product_type: "String",
  env_id: "String",
  product_category: "String",
  timestamp: "DateTime('UTC')",
};

/** Lines may be equal in all these columns, so the remaining ones complete the order, at no cost. */
const order = [
  "day",
  ...Object.keys(billingKey),
  ...columnsOf("billing").flatMap(([name, { statedBy, line }]) =>
    (statedBy !== undefined && line !== "key") || Object.hasOwn(billingKey, name) ? [] : [`b.${name}`],
  ),
].join(", ");

const shown = shownColumns("billing");
/** The stored columns, with decimals as text. */
const stored = shown.map((name) =>
  factTableColumns.billing[name].kind === "decimal" ? `toString(b.${name}) AS ${name}` : name,
);
const read = [...new Set([...stored, ...Object.keys(billingKey)])];

export interface BillingListInput extends PageRequest {
  readonly window: DateWindow;
  readonly filters: LineFilters;
  /** Reads after this position instead of by the page's number. */
  readonly position?: PagePosition | undefined;
  readonly countDays: CountDays;
}

/** Instants are `2026-01-01T00:00:00Z`, decimals plain. */
export interface BillingLineItem extends Omit<ShownValues<"billing">, "metadata">, ResourceNames {
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Selects `{day, rows}`, days ascending. */
export function billingDays(window: DateWindow, filters: LineFilters): Statement {
  const { condition, params } = rowsInWindow(window);
  const filter = valueConditions(lineFilterColumns, filters);
  return {
    query: `SELECT day, count() AS rows FROM published_billing WHERE ${condition}${filter.condition} GROUP BY day ORDER BY day`,
    params: { ...params, ...filter.params },
  };
}

export function billingPage(
  { window, filters, position }: Omit<BillingListInput, keyof PageRequest | "countDays">,
  span: PageSpan,
  rows: number,
): Statement {
  const { condition, params } = rowsInWindow(window, span);
  const filter = valueConditions(lineFilterColumns, filters);
  const start = fromPosition(billingKey, position, span);
  return {
    query: `
SELECT ${read.join(", ")}
FROM published_billing AS b
WHERE ${condition}${filter.condition}${start.condition}
ORDER BY ${order}
LIMIT {rows:UInt32} OFFSET {offset:UInt64}`,
    params: { ...params, ...filter.params, ...start.params, rows, offset: span.offset },
  };
}

/** Selects `{day, rows}`: how many rows of the position's day come before it. */
export function billingBefore(
  { window, filters }: Pick<BillingListInput, "window" | "filters">,
  position: PagePosition,
): Statement {
  const { condition, params } = rowsInWindow(window);
  const filter = valueConditions(lineFilterColumns, filters);
  const before = beforePosition(billingKey, position);
  return {
    query: `SELECT day, count() AS rows FROM published_billing WHERE ${condition}${filter.condition}${before.condition} GROUP BY day`,
    params: { ...params, ...filter.params, ...before.params },
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
    position: input.position,
    read: (span, rows, settings) => readRows(client, billingPage(input, span, rows), signal, settings),
    countBefore: async (position) =>
      totalRows(await readRows<DayCount>(client, billingBefore(input, position), signal)),
  });
  const names = await readNames(client, rows, signal);
  const items = rows.map((row) => {
    const stored = JSON.parse(row.metadata || "{}") as Record<string, unknown>;
    const metadata: Record<string, unknown> = { ...(row.env_id !== "" && { env_id: row.env_id }), ...stored };
    return Object.assign(pick(row, shown), names.resource(row.resource_id), { metadata });
  });
  return { items, total, next };
}

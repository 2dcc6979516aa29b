/** A page of attributions to topics, in the order of the table's key, UTC day first. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import { type ShownColumn, shownColumns } from "../../domain/fact-tables.js";
import type { AttributionDetail, AttributionMethod } from "../../domain/topic-rule.js";
import { readNames } from "../inventory/names.js";
import {
  beforePosition,
  type CountDays,
  fromPosition,
  type OrderColumns,
  type PagePosition,
  type PageRequest,
  type PageSpan,
  readDayCounts,
  totalRows,
} from "../page/position.js";
import { type Pages, pick, readOrderedPages } from "../page/read-pages.js";
import type { DateWindow } from "../time/date-window.js";
import { type AttributionFilters, attributionsInWindow } from "./scan.js";

/** The order after `day`. */
export const attributionKey: OrderColumns = {
  cluster_resource_id: "String",
  product_type: "String",
  env_id: "String",
  product_category: "String",
  timestamp: "DateTime('UTC')",
  topic_name: "String",
};

/** `currency` separates attributions of two lines that differ in nothing else, at no cost. */
export const attributionOrder = ["day", ...Object.keys(attributionKey), "currency"];
const order = attributionOrder.join(", ");

const stored = shownColumns("topic_attributions");
const shown = [...stored, "amount"] as const;
const read = [...new Set<string>([...stored, ...Object.keys(attributionKey)])];

export interface AttributionListInput extends PageRequest {
  readonly window: DateWindow;
  readonly filters: AttributionFilters;
  /** Reads after this position instead of by the page's number. */
  readonly position?: PagePosition | undefined;
  readonly countDays: CountDays;
}

/** Instants are `2026-01-01T00:00:00Z`, amounts plain decimals. */
export interface TopicAttributionRow
  extends Readonly<
    Record<
      Exclude<ShownColumn<"topic_attributions">, "attribution_method" | "attribution_detail" | "provisional">,
      string
    >
  > {
  /** Null if unknown. */
  readonly cluster_name: string | null;
  readonly attribution_method: AttributionMethod;
  readonly attribution_detail: AttributionDetail;
  readonly amount: string;
  /** The day misses data that may still come. */
  readonly provisional: boolean;
}

type ListQuery = Pick<AttributionListInput, "window" | "filters" | "position">;

/** Returns rows `{day, rows}`, days ascending. */
function attributionDays({ window, filters }: ListQuery): Statement {
  const { condition, params } = attributionsInWindow(window, filters);
  return {
    query: `SELECT day, count() AS rows FROM topic_attributions WHERE ${condition} GROUP BY day ORDER BY day`,
    params,
  };
}

function attributionPage({ window, filters, position }: ListQuery, span: PageSpan, rows: number): Statement {
  const { condition, params } = attributionsInWindow(window, filters, span);
  const start = fromPosition(attributionKey, position, span);
  return {
    query: `
SELECT ${read.join(", ")}, toString(amount_hi + amount_lo) AS amount
FROM topic_attributions
WHERE ${condition}${start.condition}
ORDER BY ${order}
LIMIT {rows:UInt32} OFFSET {offset:UInt64}`,
    params: { ...params, ...start.params, rows, offset: span.offset },
  };
}

/** Returns `{day, rows}`: how many rows of the position's day come before it. */
function attributionsBefore({ window, filters }: ListQuery, position: PagePosition): Statement {
  const { condition, params } = attributionsInWindow(window, filters);
  const before = beforePosition(attributionKey, position);
  return {
    query: `SELECT day, count() AS rows FROM topic_attributions WHERE ${condition}${before.condition} GROUP BY day`,
    params: { ...params, ...before.params },
  };
}

type StoredAttribution = Omit<TopicAttributionRow, "cluster_name">;

export async function readAttributionPages(
  client: ClickHouseClient,
  input: AttributionListInput,
  signal?: AbortSignal,
): Promise<Pages<TopicAttributionRow>> {
  const {
    items: rows,
    total,
    next,
  } = await readOrderedPages<StoredAttribution>({
    columns: attributionKey,
    days: await input.countDays(() => readDayCounts(client, attributionDays(input), signal)),
    page: input,
    position: input.position,
    read: (span, count, settings) => readRows(client, attributionPage(input, span, count), signal, settings),
    countBefore: async (position) =>
      totalRows(await readDayCounts(client, attributionsBefore(input, position), signal)),
  });
  const clusters = rows.map(({ cluster_resource_id: resource_id }) => ({ resource_id }));
  const names = await readNames(client, clusters, signal);
  const items = rows.map((row) => {
    const cluster_name = names.resource(row.cluster_resource_id).resource_name;
    return Object.assign(pick(row, shown), { cluster_name });
  });
  return { items, total, next };
}

/** Returns every UTC day that has attributions, ascending. */
export async function readAttributionDates(
  client: ClickHouseClient,
  signal?: AbortSignal,
): Promise<string[]> {
  const read = { query: "SELECT day FROM topic_attributions GROUP BY day ORDER BY day", params: {} };
  return (await readRows<{ day: string }>(client, read, signal)).map(({ day }) => day);
}

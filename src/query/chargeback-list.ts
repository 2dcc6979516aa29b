/**
 * A page of chargeback rows, in the order of the table's key, UTC day first: an order that costs nothing, and that is total
 * and stable while nothing is published.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { AllocationDetail, AllocationMethod, CostType } from "../config/allocation-rule.js";
import { chargebackDays } from "./chargeback-days.js";
import {
  type ChargebackFilters,
  type Condition,
  filtered,
  rowsInWindow,
  withNames,
} from "./chargeback-scan.js";
import { type ClickHouseRead, readRows } from "./clickhouse-read.js";
import type { DateWindow } from "./date-window.js";
import { collidedSql, dimensionIdSql } from "./dimension-id-sql.js";
import { type DimensionTag, hasTags, readDimensionTags, tagPair } from "./dimension-tags.js";
import { type IdentityNames, type ResourceNames, readNames } from "./inventory-names.js";
import { beforePlace, fromPlace, type OrderColumns, orderValuesSql, type Place } from "./keyset.js";
import { type OrderedRow, readOrderedPage } from "./keyset-page.js";
import { type PageRequest, type PageSpan, readDayCounts, totalRows } from "./page-days.js";
import { metadataColumns, metadataSql, type RowMetadata, weightJoins } from "./row-metadata.js";

/** Behind `day`. */
export const chargebackKey: OrderColumns = {
  resource_id: "String",
  product_type: "String",
  env_id: "String",
  product_category: "String",
  timestamp: "DateTime('UTC')",
  component: "UInt8",
  identity_id: "String",
};

export const chargebackOrder = ["day", ...Object.keys(chargebackKey)];

/** Two lines of a bill that are the same in its order have parts that are: what else differs puts them in order, at no cost. */
const ties = [
  "amount_hi",
  "amount_lo",
  "cost_type",
  "allocation_method",
  "allocation_detail",
  "metric",
  "tier",
  "component_ratio",
];

export interface ChargebackRow extends IdentityNames, ResourceNames {
  readonly dimension_id: number;
  readonly ecosystem: string;
  readonly tenant_id: string;
  /** `2026-01-01T00:00:00Z`. */
  readonly timestamp: string;
  readonly resource_id: string;
  readonly product_category: string;
  readonly product_type: string;
  readonly identity_id: string;
  readonly cost_type: CostType;
  /** Plain decimal. */
  readonly amount: string;
  readonly allocation_method: AllocationMethod;
  readonly allocation_detail: AllocationDetail;
  /** Its day lacks something that may still come. */
  readonly provisional: boolean;
  readonly tags: string[];
  /** `team=Platform`, in the order of `tags`. */
  readonly tag_pairs: string[];
  readonly metadata: RowMetadata;
}

export interface ChargebackListInput extends PageRequest {
  readonly window: DateWindow;
  readonly filters: ChargebackFilters;
  /** Behind this place instead of the page's number. */
  readonly place?: Place | undefined;
}

const shown = [
  "ecosystem",
  "tenant_id",
  "timestamp",
  "resource_id",
  "product_category",
  "product_type",
  "identity_id",
  "cost_type",
];
const explained = ["allocation_method", "allocation_detail", "provisional"];
const needed = [...new Set([...metadataColumns, ...shown, ...explained])];

/** `span` says where the page lies: only its days are read, in key order, and no further than `rows`. */
export function chargebackPage(
  { window, filters, place }: Omit<ChargebackListInput, keyof PageRequest>,
  span: PageSpan,
  rows: number,
): ClickHouseRead {
  const { condition, params } = rowsInWindow(window);
  const where = filtered(filters);
  const behind: Condition =
    place === undefined ? { condition: "", params: {} } : fromPlace(chargebackKey, place);
  const { first_day, last_day, offset } = span;
  const page = `page AS (
    SELECT ${needed.join(", ")}, amount_hi, amount_lo
    FROM chargebacks
    WHERE ${condition}${where.condition} AND day >= {page_first:Date} AND day <= {page_last:Date}${behind.condition}
    ORDER BY ${[...chargebackOrder, ...ties].join(", ")}
    LIMIT {rows:UInt32} OFFSET {offset:UInt64}
  )`;
  return {
    query: `
${withNames(collidedSql, ...where.names, page)}SELECT ${dimensionIdSql("r.")} AS dimension_id, ${shown.map((column) => `r.${column} AS ${column}`).join(", ")},
  toString(r.amount_hi + r.amount_lo) AS amount, ${explained.map((column) => `r.${column} AS ${column}`).join(", ")}, ${metadataSql} AS metadata,
  ${orderValuesSql(chargebackKey, "r.")} AS order_values
FROM page AS r${weightJoins("page")}
ORDER BY ${[...chargebackOrder, ...ties].map((column) => `r.${column}`).join(", ")}`,
    params: {
      ...{ ...params, ...where.params, ...behind.params },
      ...{ page_first: first_day, page_last: last_day, rows, offset },
    },
  };
}

/** Rows `{day, rows}`: of the place's day, how many lie before it. */
export function chargebacksBefore(
  { window, filters }: Pick<ChargebackListInput, "window" | "filters">,
  place: Place,
): ClickHouseRead {
  const { condition, params } = rowsInWindow(window);
  const where = filtered(filters);
  const before = beforePlace(chargebackKey, place);
  return {
    query: `
${withNames(...where.names)}SELECT day, count() AS rows FROM chargebacks WHERE ${condition}${where.condition}${before.condition} GROUP BY day`,
    params: { ...params, ...where.params, ...before.params },
  };
}

type StoredRow = Omit<
  ChargebackRow,
  "dimension_id" | "tags" | "tag_pairs" | "metadata" | keyof IdentityNames | keyof ResourceNames
> &
  OrderedRow & { dimension_id: string; metadata: string };

export async function readChargebackPage(
  client: ClickHouseClient,
  input: ChargebackListInput,
  signal?: AbortSignal,
): Promise<{ items: ChargebackRow[]; total: number; next: Place | undefined }> {
  const [days, tagged] = await Promise.all([
    readDayCounts(client, chargebackDays(input.window, input.filters), signal),
    hasTags(client, signal),
  ]);
  const { rows, total, next } = await readOrderedPage<StoredRow>({
    columns: chargebackKey,
    days,
    page: input,
    place: input.place,
    read: (span, rows) => readRows(client, chargebackPage(input, span, rows), signal),
    countBefore: async (place) =>
      totalRows(await readDayCounts(client, chargebacksBefore(input, place), signal)),
  });
  const ids = rows.map((row) => Number(row.dimension_id));
  const [tags, names] = await Promise.all([
    tagged ? readDimensionTags(client, ids, signal) : new Map<number, DimensionTag[]>(),
    readNames(client, rows, signal),
  ]);
  const items = rows.map(({ order_values: _, ...row }) => {
    const ofDimension = tags.get(Number(row.dimension_id)) ?? [];
    return {
      ...row,
      ...names.identity(row.identity_id),
      ...names.resource(row.resource_id),
      dimension_id: Number(row.dimension_id),
      tags: ofDimension.map(({ display_name }) => display_name),
      tag_pairs: ofDimension.map(tagPair),
      metadata: JSON.parse(row.metadata) as RowMetadata,
    };
  });
  return { items, total, next };
}

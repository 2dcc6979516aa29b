/**
 * A page of chargeback rows, in the order of the table's key, UTC day first. That order costs nothing, and it is total
 * and stable while nothing is published.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import type { AllocationDetail, AllocationMethod, CostType } from "../../domain/allocation-rule.js";
import { fingerprintSql } from "../../domain/dimension-id.js";
import { columnsOf, type ShownValues, shownColumns } from "../../domain/fact-tables.js";
import type { IdentityNames, ResourceNames } from "../inventory/names.js";
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
import { tagPair } from "../tags/tag-sql.js";
import type { DateWindow } from "../time/date-window.js";
import { readMetadata, type SplitRow, splitColumns } from "./allocation-weights.js";
import { type LookedUpRow, readPageLookups } from "./page-lookups.js";
import { pathIdSql, type RowMetadata } from "./row-metadata.js";
import type { ScaledDays } from "./scaled-days.js";
import { type ChargebackFilters, chargebackDays, filtered, rowsInWindow, withClause } from "./scan.js";

/** The order after `day`. */
export const chargebackKey: OrderColumns = {
  resource_id: "String",
  product_type: "String",
  env_id: "String",
  product_category: "String",
  timestamp: "DateTime('UTC')",
  component: "UInt8",
  identity_id: "String",
};

/** `currency` separates parts of two lines that differ in nothing else. */
export const chargebackOrder = ["day", ...Object.keys(chargebackKey), "currency"];

/** The stored columns. The rest is looked up for the page. */
const stored = shownColumns("chargebacks");
const shown = [...stored, "amount"] as const;
const read = [...new Set<string>([...stored, ...splitColumns, ...Object.keys(chargebackKey)])];

/** Columns that are equal in all rows of a day. */
const dayColumns = ["rules_hash", "decimal_places", "revision"];

/** Two lines of a bill may be equal in the whole order, and so may their parts. The remaining columns order those. */
const ties = columnsOf("chargebacks").flatMap(([name, { line, kind }]) =>
  line === "same" || kind === "cost_part" || [...chargebackOrder, ...dayColumns].includes(name) ? [] : [name],
);

/** Instants are `2026-01-01T00:00:00Z`, amounts plain decimals. */
export interface ChargebackRow
  extends Omit<
      ShownValues<"chargebacks">,
      "cost_type" | "allocation_method" | "allocation_detail" | "provisional"
    >,
    IdentityNames,
    ResourceNames {
  readonly dimension_id: number;
  readonly cost_type: CostType;
  readonly amount: string;
  readonly allocation_method: AllocationMethod;
  readonly allocation_detail: AllocationDetail;
  /** Its day misses data that may still come. */
  readonly provisional: boolean;
  readonly tags: string[];
  /** `team=Platform`, in the order of `tags`. */
  readonly tag_pairs: string[];
  readonly metadata: RowMetadata;
}

export interface ChargebackListInput extends PageRequest {
  readonly window: DateWindow;
  readonly filters: ChargebackFilters;
  /** Reads after this position instead of by the page's number. */
  readonly position?: PagePosition | undefined;
  readonly countDays: CountDays;
  readonly scaledDays?: ScaledDays | undefined;
}

/** `span` locates the page: only its days are read, in key order, and no further than `rows`. */
export function chargebackPage(
  { window, filters, position }: Omit<ChargebackListInput, keyof PageRequest | "countDays">,
  span: PageSpan,
  rows: number,
): Statement {
  const { condition, params } = rowsInWindow(window, span);
  const where = filtered(filters);
  const start = fromPosition(chargebackKey, position, span);
  return {
    query: `
${withClause(...where.withClauses)}SELECT ${read.join(", ")}, ${pathIdSql("passed_path")} AS path_id, toString(amount_hi + amount_lo) AS amount,
  toString(${fingerprintSql()}) AS fingerprint
FROM chargebacks
WHERE ${condition}${where.condition}${start.condition}
ORDER BY ${[...chargebackOrder, ...ties].join(", ")}
LIMIT {rows:UInt32} OFFSET {offset:UInt64}`,
    params: { ...params, ...where.params, ...start.params, rows, offset: span.offset },
  };
}

/** Selects `{day, rows}`: how many rows of the position's day come before it. */
export function chargebacksBefore(
  { window, filters }: Pick<ChargebackListInput, "window" | "filters">,
  position: PagePosition,
): Statement {
  const { condition, params } = rowsInWindow(window);
  const where = filtered(filters);
  const before = beforePosition(chargebackKey, position);
  return {
    query: `
${withClause(...where.withClauses)}SELECT day, count() AS rows FROM chargebacks WHERE ${condition}${where.condition}${before.condition} GROUP BY day`,
    params: { ...params, ...where.params, ...before.params },
  };
}

type Stored = Pick<ChargebackRow, (typeof stored)[number] | "amount">;
type StoredRow = Stored & SplitRow & LookedUpRow;

export async function readChargebackPages(
  client: ClickHouseClient,
  input: ChargebackListInput,
  signal?: AbortSignal,
): Promise<Pages<ChargebackRow>> {
  const days = await input.countDays(() =>
    readDayCounts(client, chargebackDays(input.window, input.filters), signal),
  );
  const {
    items: rows,
    total,
    next,
  } = await readOrderedPages<StoredRow>({
    columns: chargebackKey,
    days,
    page: input,
    position: input.position,
    read: (span, rows, settings) => readRows(client, chargebackPage(input, span, rows), signal, settings),
    countBefore: async (position) =>
      totalRows(await readDayCounts(client, chargebacksBefore(input, position), signal)),
  });
  const [metadata, { names, dimensionId, tags }] = await Promise.all([
    readMetadata(client, rows, signal, input.scaledDays),
    readPageLookups(client, rows, signal),
  ]);
  const items = rows.map((row) => {
    const dimension_id = dimensionId(row);
    const dimensionTags = tags(dimension_id);
    const { identity_id, resource_id } = row;
    return Object.assign(pick(row, shown), names.identity(identity_id), names.resource(resource_id), {
      dimension_id,
      tags: dimensionTags.map(({ display_name }) => display_name),
      tag_pairs: dimensionTags.map(tagPair),
      metadata: metadata(row),
    });
  });
  return { items, total, next };
}

/**
 * Lists the dimensions with chargebacks on a day, the largest amounts first, so that a user can pick one to explain.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../../clickhouse/statement.js";
import { dimensionFields } from "../../../domain/dimension-id.js";
import type { PageRequest } from "../../page/position.js";
import type { DimensionFields } from "../dimension-row.js";
import { collidedSql, dimensionIdSql } from "../dimensions.js";
import { withClause } from "../scan.js";

/** Keeps rows that match all given fields. Identities and resources match by id or name. */
export interface DayNames {
  readonly identity?: string | undefined;
  readonly resource?: string | undefined;
  readonly product?: string | undefined;
  readonly currency?: string | undefined;
}

/** A dimension in one currency. */
interface DimensionOfDay extends DimensionFields {
  readonly dimension_id: number;
  readonly currency: string;
  /** The sum of its rows of the day, a plain decimal. */
  readonly amount: string;
}

/** The largest amounts come first, over all pages. */
export interface DimensionPage extends PageRequest {
  readonly items: readonly DimensionOfDay[];
  /** Rows of all pages; 0 on a page past the last one. */
  readonly total: number;
  /** Number of distinct dimensions in these rows. */
  readonly dimensions: number;
}

export interface DimensionsOfDay extends PageRequest {
  /** A UTC day that the store can represent. */
  readonly date: string;
  readonly names: DayNames;
}

const conditions = {
  identity:
    "(identity_id = {identity:String} OR identity_id IN (SELECT identity_id FROM identities WHERE identity_name = {identity:String}))",
  resource:
    "(resource_id = {resource:String} OR resource_id IN (SELECT resource_id FROM resources WHERE resource_name = {resource:String}))",
  product: "product_type = {product:String}",
  currency: "currency = {currency:String}",
} as const;

export function dimensionsOfDay({ date, names, page, page_size }: DimensionsOfDay): Statement {
  const filters = Object.entries(names).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const where = filters.map(([name]) => ` AND ${conditions[name as keyof DayNames]}`).join("");
  const fields = dimensionFields.join(", ");
  return {
    query: `
${withClause(collidedSql)}SELECT ${dimensionIdSql()} AS dimension_id, ${fields}, currency, toString(cost) AS amount,
  toUInt32(uniqExact(dimension_id) OVER ()) AS dimensions, toUInt32(count() OVER ()) AS total
FROM (
  SELECT ${fields}, currency, sum(amount_hi) + sum(amount_lo) AS cost
  FROM chargebacks
  WHERE day = {day:Date}${where}
  GROUP BY ${fields}, currency
)
ORDER BY abs(cost) DESC, dimension_id, currency
LIMIT {rows:UInt32} OFFSET {offset:UInt64}`,
    params: {
      day: date,
      rows: page_size,
      offset: (page - 1) * page_size,
      ...Object.fromEntries(filters),
    },
  };
}

export async function readDimensionsOfDay(
  client: ClickHouseClient,
  input: DimensionsOfDay,
  signal: AbortSignal,
): Promise<DimensionPage> {
  type Row = DimensionOfDay & Pick<DimensionPage, "total" | "dimensions">;
  const rows = await readRows<Row>(client, dimensionsOfDay(input), signal);
  return {
    items: rows.map(({ total, dimensions, ...item }) => item),
    total: rows[0]?.total ?? 0,
    dimensions: rows[0]?.dimensions ?? 0,
    page: input.page,
    page_size: input.page_size,
  };
}

/** Conditions that select the rows of one line, or of one of its components. */
import type { Statement } from "../../../clickhouse/statement.js";
import type { DimensionFields } from "../dimension-row.js";
import { splitKey } from "../row-metadata.js";
import { storedInstant } from "../scan.js";
import type { DayRow } from "./day.js";

export interface SplitOfRow {
  readonly dimension: DimensionFields;
  readonly day: string;
  readonly row: Pick<DayRow, "timestamp" | "component" | "currency" | "line_id">;
}

export const lineKey = splitKey.filter((each) => each !== "component");

export function conditionsOf(
  { dimension, day, row }: SplitOfRow,
  columns: readonly (typeof splitKey)[number][],
): Statement {
  const values: Readonly<Record<(typeof splitKey)[number], string | number>> = {
    day,
    timestamp: storedInstant(row.timestamp),
    env_id: dimension.env_id,
    resource_id: dimension.resource_id,
    product_category: dimension.product_category,
    product_type: dimension.product_type,
    currency: row.currency,
    component: row.component,
    line_id: row.line_id,
  };
  const types = { day: "Date", timestamp: "DateTime('UTC')", component: "UInt8", line_id: "UInt64" } as const;
  const typeOf = (column: string) => types[column as keyof typeof types] ?? "String";
  return {
    query: columns.map((column) => `${column} = {split_${column}:${typeOf(column)}}`).join(" AND "),
    params: Object.fromEntries(columns.map((column) => [`split_${column}`, values[column]])),
  };
}

/**
 * Sums attributions to topics by time bucket and columns, in the form of the aggregation of chargebacks. Totals include
 * all matching rows, even if not all buckets are returned.
 *
 * One statement reads the rows themselves: there are a tenth as many as chargebacks.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readTuples, type Statement } from "../../clickhouse/statement.js";
import { bucketsWithTotals } from "../chargebacks/aggregate.js";
import {
  type Aggregate,
  type AggregateBucket,
  aggregateOf,
  type CurrencyAmounts,
  type StoredBucket,
} from "../chargebacks/aggregate-result.js";
import { BUCKET_LIMIT } from "../chargebacks/bucket-limit.js";
import { knownNames, nameSql } from "../inventory/names.js";
import { bucketKey, bucketLabelSql, type TimeBucket } from "../time/bucket.js";
import type { DateWindow } from "../time/date-window.js";
import { type AttributionFilters, attributionsInWindow } from "./scan.js";

/** Maps each column that a request can group by to the table's column. */
export const attributionGroupColumns = {
  topic_name: "topic_name",
  cluster_resource_id: "cluster_resource_id",
  product_type: "product_type",
  product_category: "product_category",
  attribution_method: "attribution_method",
  environment_id: "env_id",
  currency: "currency",
} as const;
export type AttributionGroupColumn = keyof typeof attributionGroupColumns;

export interface AttributionAggregateInput {
  readonly window: DateWindow;
  readonly filters: AttributionFilters;
  /** In the order in which buckets are sorted. Duplicates are ignored. */
  readonly groupBy: readonly AttributionGroupColumn[];
  readonly timeBucket: TimeBucket;
}

/** Returns rows of `StoredBucket`, with names of clusters and environments. */
function attributionAggregate(input: AttributionAggregateInput): Statement {
  const { window, filters, timeBucket } = input;
  const bucket = bucketKey(timeBucket, window);
  const columnNames = distinctColumns(input);
  const grouped = [...new Set([...columnNames, "currency" as const])];
  const columns = grouped.map((name) => attributionGroupColumns[name]);
  const { condition, params } = attributionsInWindow(window, filters);
  const resourceNames = columnNames.flatMap((name, index) =>
    hasNames(name) ? [nameSql("resource_name", `c${index}`)] : [],
  );
  const order = ["bucket", ...columns.map((_, index) => `c${index}`)].join(", ");
  const keys = columns.map((column, index) => `, ${column} AS c${index}`).join("");
  const buckets = `buckets AS (
  SELECT ${bucket.sql} AS bucket${keys},
    ${attributionSums("total", "usage")}, total - usage AS shared, count() AS row_count, toUInt8(max(provisional)) AS is_provisional
  FROM topic_attributions
  WHERE ${condition}
  GROUP BY ${order}
)`;
  return bucketsWithTotals({
    withClauses: [...(resourceNames.length === 0 ? [] : knownNames(["resource_name"])), buckets],
    label: bucketLabelSql(timeBucket, window.timezone),
    currency: `c${grouped.indexOf("currency")}`,
    order,
    columns: [...columnNames.map((_, index) => `c${index}`), ...resourceNames],
    params: { ...params, ...bucket.params },
  });
}

const IS_BY_USAGE = "attribution_method IN ('bytes_ratio', 'retained_bytes_ratio')";

/** Returns the sum of all amounts, and of those by measured bytes. */
export function attributionSums(total: string, usage: string): string {
  return `sum(amount_hi) + sum(amount_lo) AS ${total},
    sumIf(amount_hi, ${IS_BY_USAGE}) + sumIf(amount_lo, ${IS_BY_USAGE}) AS ${usage}`;
}

/** Clusters and environments are resources, so they have names. */
export function hasNames(column: AttributionGroupColumn): boolean {
  return column === "cluster_resource_id" || column === "environment_id";
}

export function distinctColumns({
  groupBy,
}: Pick<AttributionAggregateInput, "groupBy">): AttributionGroupColumn[] {
  return [...new Set(groupBy)];
}

/** Costs of topics are never passed on. */
type Unpassed<Sums> = Omit<Sums, "passed_amount">;

interface AttributionAggregate extends Unpassed<Omit<Aggregate, "buckets" | "totals">> {
  readonly buckets: Unpassed<AggregateBucket>[];
  readonly totals: Unpassed<CurrencyAmounts>[];
}

export async function readAttributionAggregate(
  client: ClickHouseClient,
  input: AttributionAggregateInput,
  signal?: AbortSignal,
): Promise<AttributionAggregate> {
  const rows = await readTuples<StoredBucket>(client, attributionAggregate(input), signal);
  const columns = distinctColumns(input);
  const shape = { columns, named: columns.filter(hasNames), bucketLimit: BUCKET_LIMIT };
  const { buckets, totals, ...overall } = unpassed(aggregateOf(shape, rows));
  return { ...overall, buckets: buckets.map(unpassed), totals: totals.map(unpassed) };
}

function unpassed<Sums extends { readonly passed_amount: string | null }>(sums: Sums): Unpassed<Sums> {
  const { passed_amount: _, ...rest } = sums;
  return rest;
}

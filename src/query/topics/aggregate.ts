/**
 * Attributions to topics summed by time bucket and columns, in the form of the aggregation of chargebacks. Totals are over all
 * matching rows, also when not all buckets are returned.
 *
 * One statement, from the rows themselves: there are a tenth as many as chargebacks.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readTuples, type Statement } from "../../store/clickhouse/statement.js";
import type { Aggregate } from "../chargebacks/aggregate.js";
import { BUCKET_LIMIT } from "../chargebacks/aggregate-buckets.js";
import { displayNames, knownNames, nameSql } from "../inventory/names.js";
import { bucketKey, bucketLabelSql, type TimeBucket } from "../time/bucket.js";
import type { DateWindow } from "../time/date-window.js";
import { type AttributionFilters, attributionsInWindow } from "./scan.js";

/** What can be grouped by, and the column it is. */
export const attributionGroupColumns = {
  topic_name: "topic_name",
  cluster_resource_id: "cluster_resource_id",
  product_type: "product_type",
  product_category: "product_category",
  attribution_method: "attribution_method",
  environment_id: "env_id",
} as const;
export type AttributionGroupColumn = keyof typeof attributionGroupColumns;

export interface AttributionAggregateInput {
  readonly window: DateWindow;
  readonly filters: AttributionFilters;
  /** In the order in which buckets are sorted. Repetitions are taken once. */
  readonly groupBy: readonly AttributionGroupColumn[];
  readonly timeBucket: TimeBucket;
}

/**
 * Rows `[label, total, usage, shared, row_count, provisional, totals, columns…, names…]`, with a name for each column of clusters and environments. The first row has the totals over all rows, `[total, usage,
 * shared, rows, buckets]`; the others have none.
 */
function attributionAggregate(input: AttributionAggregateInput): Statement {
  const { window, filters, timeBucket } = input;
  const bucket = bucketKey(timeBucket, window);
  const columns = distinctColumns(input).map((name) => attributionGroupColumns[name]);
  const { condition, params } = attributionsInWindow(window, filters);
  const called = distinctColumns(input).flatMap((name, index) =>
    isNamed(name) ? [nameSql("resource_name", `c${index}`)] : [],
  );
  const groups = columns.map((_, index) => `c${index}`);
  const order = ["bucket", ...groups].join(", ");
  const keys = columns.map((column, index) => `, ${column} AS c${index}`).join("");
  const measured = "attribution_method IN ('bytes_ratio', 'retained_bytes_ratio')";
  return {
    query: `
WITH ${called.length === 0 ? "" : `${knownNames(["resource_name"]).join(",\n  ")},\n  `}buckets AS (
  SELECT ${bucket.sql} AS bucket${keys},
    sum(amount_hi) + sum(amount_lo) AS total,
    sumIf(amount_hi, ${measured}) + sumIf(amount_lo, ${measured}) AS usage,
    total - usage AS shared, count() AS row_count, toUInt8(max(provisional)) AS is_provisional
  FROM topic_attributions
  WHERE ${condition}
  GROUP BY ${order}
)
SELECT ${bucketLabelSql(timeBucket, window.timezone)} AS label, toString(total), toString(usage), toString(shared), row_count, is_provisional,
  if(row_number() OVER (ORDER BY ${order}) = 1,
    [toString(all_total), toString(all_usage), toString(all_shared), toString(all_rows), toString(all_buckets)], []) AS totals_once${groups.map((group) => `, ${group}`).join("")}${called.map((name) => `, ${name}`).join("")}
FROM (
  SELECT *, sum(total) OVER () AS all_total, sum(usage) OVER () AS all_usage, sum(shared) OVER () AS all_shared,
    sum(row_count) OVER () AS all_rows, count() OVER () AS all_buckets
  FROM buckets
  ORDER BY ${order}
  LIMIT {bucket_limit:UInt32}
)
ORDER BY ${order}`,
    params: { ...params, ...bucket.params, bucket_limit: BUCKET_LIMIT },
  };
}

/** Clusters and environments are resources, and have names. */
function isNamed(column: AttributionGroupColumn): boolean {
  return column === "cluster_resource_id" || column === "environment_id";
}

function distinctColumns({ groupBy }: AttributionAggregateInput): AttributionGroupColumn[] {
  return [...new Set(groupBy)];
}

type StoredBucket = readonly [
  label: string,
  total: string,
  usage: string,
  shared: string,
  rowCount: string,
  provisional: 0 | 1,
  totals: readonly string[],
  ...columns: string[],
];

export async function readAttributionAggregate(
  client: ClickHouseClient,
  input: AttributionAggregateInput,
  signal?: AbortSignal,
): Promise<Aggregate> {
  const rows = await readTuples<StoredBucket>(client, attributionAggregate(input), signal);
  const names = distinctColumns(input);
  const called = names.filter(isNamed);
  const [total = "0", usage = "0", shared = "0", allRows = "0", allBuckets = "0"] = rows[0]?.[6] ?? [];
  return {
    buckets: rows.map(([label, sum, measured, rest, rowCount, provisional, , ...columns]) => ({
      dimensions: Object.fromEntries(names.map((name, index) => [name, columns[index] ?? ""])),
      display_names: displayNames(names, called, columns),
      time_bucket: label,
      total_amount: sum,
      usage_amount: measured,
      shared_amount: rest,
      row_count: Number(rowCount),
      provisional: Number(provisional) === 1,
    })),
    total_amount: total,
    usage_amount: usage,
    shared_amount: shared,
    total_rows: Number(allRows),
    total_buckets: Number(allBuckets),
    truncated: Number(allBuckets) > rows.length,
  };
}

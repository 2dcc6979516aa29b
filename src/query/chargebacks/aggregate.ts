/**
 * Chargebacks summed by time bucket and columns. Totals are over all matching rows, even when not all buckets are returned.
 *
 * This takes two statements, where a single one that computes all buckets would be many times slower. The first counts the buckets
 * and sums the rows. The second computes the first 10,000 buckets, from the days that contain them. Together they show one state
 * of the rows: what the first says about those days must be what the second finds there. What is published for other days in the
 * meantime does not concern the second, and a publish for these days that changes neither count nor sums leaves the totals true.
 *
 * What the first statement finds of a day holds until that day is published again, and may be remembered (`bucket-limit-cache.ts`).
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { allocationDetails, allocationMethods, costTypes } from "../../config/allocation-rule.js";
import { readTuples } from "../../store/clickhouse/statement.js";
import { aggregateBuckets, BUCKET_LIMIT, fewBuckets } from "./aggregate-buckets.js";
import { type Aggregate, addedUp, aggregateOf, type StoredBucket, totalsOf } from "./aggregate-result.js";
import { type AggregateInput, distinctColumns, type GroupColumn, hasNames } from "./aggregate-source.js";
import { type BucketLimitOptions, readBucketLimit } from "./bucket-limit.js";

export { BUCKET_LIMIT } from "./aggregate-buckets.js";
export type { Aggregate } from "./aggregate-result.js";
export { type AggregateInput, type GroupColumn, groupColumns, TEAM } from "./aggregate-source.js";

/** A publish takes milliseconds: who meets two in a row makes all buckets at once. */
const ATTEMPTS = 2;

export async function readAggregate(
  client: ClickHouseClient,
  input: AggregateInput,
  { signal, known }: BucketLimitOptions = {},
): Promise<Aggregate> {
  const columns = distinctColumns(input.groupBy);
  const shape = { columns, named: columns.filter(hasNames), bucketLimit: BUCKET_LIMIT };
  if (!mayBeMany(input)) {
    const rows = await readTuples<StoredBucket>(client, fewBuckets(input), signal);
    const sums = rows.map(
      ([, currency, total, usage, shared, n]) => [currency, total, usage, shared, n, 1] as const,
    );
    return aggregateOf(shape, rows, addedUp(sums));
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // What does not hold is not remembered for the second attempt.
    const extent = await readBucketLimit(client, input, { signal, known: attempt === 0 ? known : undefined });
    if (extent === undefined) return aggregateOf(shape, []);
    if (extent.unsteady) continue;
    const near = { ...input, window: { ...input.window, to: Math.min(input.window.to, extent.last + 1) } };
    const rows = await readTuples<StoredBucket>(client, aggregateBuckets(near), signal);
    if (JSON.stringify(totalsOf(rows)) === JSON.stringify(extent.near))
      return aggregateOf(shape, rows, extent.all);
  }
  return aggregateOf(shape, await readTuples<StoredBucket>(client, aggregateBuckets(input), signal));
}

/** So few values are there of these, whatever the tenant. */
const valuesOf: Readonly<Record<string, number>> = {
  cost_type: costTypes.length,
  allocation_method: allocationMethods.length,
  allocation_detail: allocationDetails.length,
};
const HOUR = 3600;

/**
 * Whether there may be more buckets than are answered. Where there cannot be, counting them first would be a waste. Currencies are so few
 * that they do not count.
 */
function mayBeMany({ window, filters, groupBy, timeBucket }: AggregateInput): boolean {
  const times = (window.to - window.from) / (timeBucket === "hour" ? HOUR : 23 * HOUR) + 2;
  const pinned: Readonly<Record<string, unknown>> = { ...filters };
  const mostOf = (column: GroupColumn) => {
    const values = pinned[column];
    return Array.isArray(values) ? values.length : (valuesOf[column] ?? BUCKET_LIMIT);
  };
  const combinations = distinctColumns(groupBy)
    .filter((column) => column !== "currency")
    .map(mostOf);
  return combinations.reduce((product, values) => product * values, times) > BUCKET_LIMIT;
}

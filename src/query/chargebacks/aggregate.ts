/**
 * Sums chargebacks by time bucket and columns. Totals include all matching rows, even if not all buckets are returned.
 *
 * This takes two statements, because a single one that computes all buckets is many times slower. The first counts the
 * buckets and sums the rows. The second computes the first 10,000 buckets, from the days that contain them. Both show
 * the same state of the rows: the second must find the same totals for those days as the first. The second does not
 * read other days, so a publish of those in the meantime makes no difference. A publish of these days that changes
 * neither count nor sums leaves the totals correct.
 *
 * The first statement's rows of a day are valid until that day is published again, and may be cached
 * (`bucket-limit-cache.ts`).
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readTuples } from "../../clickhouse/statement.js";
import { allocationDetails, allocationMethods, costTypes } from "../../domain/allocation-rule.js";
import { aggregateBuckets, BUCKET_LIMIT, fewBuckets } from "./aggregate-buckets.js";
import { type Aggregate, addedUp, aggregateOf, type StoredBucket, totalsOf } from "./aggregate-result.js";
import { type AggregateInput, distinctColumns, type GroupColumn, hasNames } from "./aggregate-source.js";
import { type BucketLimitOptions, readBucketLimit } from "./bucket-limit.js";

export { BUCKET_LIMIT } from "./aggregate-buckets.js";
export type { Aggregate } from "./aggregate-result.js";
export { type AggregateInput, type GroupColumn, groupColumns, TEAM } from "./aggregate-source.js";

/** A publish takes milliseconds. A request that meets two in a row computes all buckets at once. */
const ATTEMPTS = 2;

export async function readAggregate(
  client: ClickHouseClient,
  input: AggregateInput,
  { signal, cache }: BucketLimitOptions = {},
): Promise<Aggregate> {
  const columns = distinctColumns(input.groupBy);
  const shape = { columns, named: columns.filter(hasNames), bucketLimit: BUCKET_LIMIT };
  if (!mayExceedLimit(input)) {
    const rows = await readTuples<StoredBucket>(client, fewBuckets(input), signal);
    const sums = rows.map(
      ([, currency, total, usage, shared, n]) => [currency, total, usage, shared, n, 1] as const,
    );
    return aggregateOf(shape, rows, addedUp(sums));
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // The second attempt bypasses the cache, because its rows may be outdated.
    const limit = await readBucketLimit(client, input, { signal, cache: attempt === 0 ? cache : undefined });
    if (limit === undefined) return aggregateOf(shape, []);
    if (limit.unsteady) continue;
    const firstDays = {
      ...input,
      window: { ...input.window, to: Math.min(input.window.to, limit.last + 1) },
    };
    const rows = await readTuples<StoredBucket>(client, aggregateBuckets(firstDays), signal);
    if (JSON.stringify(totalsOf(rows)) === JSON.stringify(limit.upToLimit))
      return aggregateOf(shape, rows, limit.all);
  }
  return aggregateOf(shape, await readTuples<StoredBucket>(client, aggregateBuckets(input), signal));
}

/** Columns with a fixed number of values in every tenant. */
const valueCounts: Readonly<Record<string, number>> = {
  cost_type: costTypes.length,
  allocation_method: allocationMethods.length,
  allocation_detail: allocationDetails.length,
};
const HOUR = 3600;

/**
 * Returns whether there may be more buckets than the limit. If not, counting them first would be a waste. There are so
 * few currencies that they do not count.
 */
function mayExceedLimit({ window, filters, groupBy, timeBucket }: AggregateInput): boolean {
  const bucketCount = (window.to - window.from) / (timeBucket === "hour" ? HOUR : 23 * HOUR) + 2;
  const filterValues: Readonly<Record<string, unknown>> = { ...filters };
  const maxValues = (column: GroupColumn) => {
    const values = filterValues[column];
    return Array.isArray(values) ? values.length : (valueCounts[column] ?? BUCKET_LIMIT);
  };
  const combinations = distinctColumns(groupBy)
    .filter((column) => column !== "currency")
    .map(maxValues);
  return combinations.reduce((product, values) => product * values, bucketCount) > BUCKET_LIMIT;
}

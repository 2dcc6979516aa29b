/**
 * Chargebacks summed by time bucket and columns. Totals are over all matching rows, also when not all buckets are returned.
 *
 * Two statements, where one that makes all buckets would be many times slower: the first counts the buckets and sums the rows, the
 * second makes the first 10,000 buckets, from the days in which they lie. They show one state of the rows: what the first
 * says of those days has to be what the second finds there. What was published elsewhere meanwhile does not concern the second, and
 * what was published there without any effect on count and sums makes the totals no less true.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readTuples } from "../../store/clickhouse/statement.js";
import { aggregateBuckets, BUCKET_LIMIT } from "./aggregate-buckets.js";
import { readExtent } from "./aggregate-extent.js";
import { type Aggregate, aggregateOf, type StoredBucket, totalsOf } from "./aggregate-result.js";
import { type AggregateInput, distinctColumns, hasNames } from "./aggregate-source.js";

export { BUCKET_LIMIT } from "./aggregate-buckets.js";
export type { Aggregate } from "./aggregate-result.js";
export { type AggregateInput, type GroupColumn, groupColumns, TEAM } from "./aggregate-source.js";

/** A publish takes milliseconds: who meets two in a row makes all buckets at once. */
const ATTEMPTS = 2;

export async function readAggregate(
  client: ClickHouseClient,
  input: AggregateInput,
  signal?: AbortSignal,
): Promise<Aggregate> {
  const columns = distinctColumns(input.groupBy);
  const shape = { columns, named: columns.filter(hasNames), bucketLimit: BUCKET_LIMIT };
  for (let attempt = 0; attempt < ATTEMPTS && mayBeMany(input); attempt++) {
    const extent = await readExtent(client, input, signal);
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
const valuesOf: Readonly<Record<string, number>> = { cost_type: 2, allocation_method: 4 };
const HOUR = 3600;

/**
 * Whether there may be more buckets than are answered. Where there cannot be, counting them first would be a waste. Currencies are so few
 * that they do not count.
 */
function mayBeMany({ window, filters, groupBy, timeBucket }: AggregateInput): boolean {
  const times = (window.to - window.from) / (timeBucket === "hour" ? HOUR : 23 * HOUR) + 2;
  const pinned: Readonly<Record<string, unknown>> = { ...filters };
  const combinations = distinctColumns(groupBy)
    .filter((column) => column !== "currency")
    .map((column) => (pinned[column] === undefined ? (valuesOf[column] ?? BUCKET_LIMIT) : 1));
  return combinations.reduce((product, values) => product * values, times) > BUCKET_LIMIT;
}

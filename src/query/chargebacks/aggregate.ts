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
import { displayNames } from "../inventory/names.js";
import { aggregateBuckets, BUCKET_LIMIT, type StoredBucket } from "./aggregate-buckets.js";
import { type AggregateExtent, readExtent } from "./aggregate-extent.js";
import { type AggregateInput, distinctColumns, hasNames } from "./aggregate-source.js";

export { BUCKET_LIMIT } from "./aggregate-buckets.js";
export { type AggregateInput, type GroupColumn, groupColumns, TEAM } from "./aggregate-source.js";

/** Amounts are plain decimals. */
export interface AggregateBucket {
  readonly dimensions: Readonly<Record<string, string>>;
  /** Of those columns of ids whose value has a name. */
  readonly display_names: Readonly<Record<string, string>>;
  readonly time_bucket: string;
  readonly total_amount: string;
  readonly usage_amount: string;
  readonly shared_amount: string;
  readonly row_count: number;
  /** Some of its rows are of a day that lacks something that may still come. */
  readonly provisional: boolean;
}

export interface Aggregate {
  readonly buckets: AggregateBucket[];
  readonly total_amount: string;
  readonly usage_amount: string;
  readonly shared_amount: string;
  readonly total_rows: number;
  readonly total_buckets: number;
  readonly truncated: boolean;
}

/** A publish takes milliseconds: who meets two in a row makes all buckets at once. */
const ATTEMPTS = 2;

export async function readAggregate(
  client: ClickHouseClient,
  input: AggregateInput,
  signal?: AbortSignal,
): Promise<Aggregate> {
  for (let attempt = 0; attempt < ATTEMPTS && mayBeMany(input); attempt++) {
    const extent = await readExtent(client, input, signal);
    const [reached, whole = reached] = extent;
    if (reached === undefined || whole === undefined) return aggregateOf(input, []);
    if (extent.some(({ unsteady }) => unsteady)) continue;
    const near = { ...input, window: { ...input.window, to: Math.min(input.window.to, reached.last + 1) } };
    const rows = await readTuples<StoredBucket>(client, aggregateBuckets(near), signal);
    if (areSums(rows[0]?.[6], reached)) return aggregateOf(input, rows, totalsOf(whole));
  }
  return aggregateOf(input, await readTuples<StoredBucket>(client, aggregateBuckets(input), signal));
}

/** So few values are there of these, whatever the tenant. */
const valuesOf: Readonly<Record<string, number>> = { cost_type: 2, allocation_method: 4 };
const HOUR = 3600;

/** Whether there may be more buckets than are answered. Where there cannot be, counting them first would be a waste. */
function mayBeMany({ window, filters, groupBy, timeBucket }: AggregateInput): boolean {
  const times = (window.to - window.from) / (timeBucket === "hour" ? HOUR : 23 * HOUR) + 2;
  const pinned: Readonly<Record<string, unknown>> = { ...filters };
  const combinations = distinctColumns(groupBy).map((column) =>
    pinned[column] === undefined ? (valuesOf[column] ?? BUCKET_LIMIT) : 1,
  );
  return combinations.reduce((product, values) => product * values, times) > BUCKET_LIMIT;
}

type Totals = readonly [total: string, usage: string, shared: string, rows: string, buckets: string];

const totalsOf = ({ total, usage, shared, rows, buckets }: AggregateExtent): Totals => [
  total,
  usage,
  shared,
  rows,
  buckets,
];

function areSums(found: readonly string[] | undefined, extent: AggregateExtent): boolean {
  return totalsOf(extent).every((value, index) => value === found?.[index]);
}

function aggregateOf(input: AggregateInput, rows: readonly StoredBucket[], totals?: Totals): Aggregate {
  const names = distinctColumns(input.groupBy);
  const called = names.filter(hasNames);
  const buckets = rows.map(([label, total, usage, shared, rowCount, provisional, , ...columns]) => ({
    dimensions: Object.fromEntries(names.map((name, index) => [name, columns[index] ?? ""])),
    display_names: displayNames(names, called, columns),
    time_bucket: label,
    total_amount: total,
    usage_amount: usage,
    shared_amount: shared,
    row_count: Number(rowCount),
    provisional: Number(provisional) === 1,
  }));
  const [total = "0", usage = "0", shared = "0", allRows = "0", allBuckets = "0"] =
    totals ?? rows[0]?.[6] ?? [];
  return {
    buckets,
    total_amount: total,
    usage_amount: usage,
    shared_amount: shared,
    total_rows: Number(allRows),
    total_buckets: Number(allBuckets),
    truncated: Number(allBuckets) > buckets.length,
  };
}

/**
 * Finds the totals of an aggregation, and the instant up to which its first buckets reach, without computing any
 * bucket.
 *
 * At most 10,000 buckets are returned, in the order of time, but there may be twenty million. Computing them all, and
 * discarding nearly all, took 1.1 s (a million, 100 M rows, from sums) or 23 s (24 million, from the rows). Counting
 * them takes 0.35 s and 2.5 s, and the first 10,000 are then in the first few days.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readTuples, type Statement } from "../../clickhouse/statement.js";
import { bucketKey } from "../time/bucket.js";
import type { DateWindow } from "../time/date-window.js";
import { type CurrencyTotals, sumByCurrency } from "./aggregate-result.js";
import { valueCodes } from "./group-by-codes.js";
import { withClause } from "./scan.js";
import {
  type AggregateInput,
  type AggregateSource,
  aggregateSource,
  columnKeys,
  rowsByKeys,
  rowsToSum,
  type SourceColumn,
} from "./summed-rows.js";

/** The most buckets of a response. */
export const BUCKET_LIMIT = 10_000;

/** The rows of a time bucket in one currency. */
export type BucketRow = readonly [
  /** Identifies time buckets and orders them. */
  bucket: number,
  /** Last instant that has rows, in seconds since 1970. */
  last: number,
  currency: string,
  /** Plain decimals. */
  total: string,
  usage: string,
  shared: string,
  rows: number,
  /** Number of the aggregation's buckets. */
  buckets: number,
  /** 1 if rows changed while they were counted, so that the figures are inconsistent. */
  changedMeanwhile: 0 | 1,
];

/** Selects `BucketRow` by bucket and currency. */
export function bucketLimitSql(input: AggregateInput): Statement {
  const source = aggregateSource(input);
  const { sql: bucket, params } = bucketKey(input.timeBucket, input.window);
  const summed = aggregateSource({ ...input, groupBy: [] });
  const numbers = source.rows.areSums ? undefined : keyNumbers(source, input);
  const counted =
    numbers === undefined || summed.rows.areSums
      ? countSeparately(summed, source, bucket, numbers)
      : countTogether(source, bucket, numbers);
  return {
    query: `
${withClause(...source.withClauses, ...(numbers?.withClauses ?? []))}SELECT CAST(bucket AS Int64), toUnixTimestamp(last), toString(currency),
  toString(total), toString(usage), toString(shared), n, buckets, toUInt8(changed_meanwhile)
FROM (${counted})
ORDER BY bucket, currency`,
    params: { ...source.params, ...params },
  };
}

const sums = (hi: string, lo: string, n: string) => `max(timestamp) AS last, sum(${hi}) + sum(${lo}) AS total,
        sumIf(${hi}, cost_type = 'usage') + sumIf(${lo}, cost_type = 'usage') AS usage,
        sumIf(${hi}, cost_type = 'shared') + sumIf(${lo}, cost_type = 'shared') AS shared, ${n} AS n`;

/** The columns besides currency. Sums and counts are always by currency. */
function withoutCurrency({ columns, currencyIndex }: AggregateSource): SourceColumn[] {
  return columns.filter((_, index) => index !== currencyIndex);
}

/**
 * Selects `{bucket, currency, last, total, usage, shared, n, buckets, changed_meanwhile}`. Sums and counts are computed
 * separately, each by as few keys as it needs. A table of sums has the sums. If it has the keys of the buckets as well,
 * this takes 0.1 and 0.28 s where together they took 0.6 s; if not, 3.5 s where together they took 4.6 s of processor
 * time (20 M rows).
 */
function countSeparately(
  summed: AggregateSource,
  source: AggregateSource,
  bucket: string,
  numbers: KeyNumbers | undefined,
): string {
  const instants = { timestamp: "timestamp", cost_type: "cost_type", currency: "currency" };
  const counts = numbers === undefined ? countByText(source, bucket) : countByNumber(source, bucket, numbers);
  return `
    SELECT s.bucket AS bucket, s.currency AS currency, s.last AS last, s.total AS total, s.usage AS usage, s.shared AS shared, s.n AS n,
      c.buckets AS buckets, s.n != c.n OR c.changed_meanwhile AS changed_meanwhile
    FROM (
      SELECT ${bucket} AS bucket, currency, ${sums("hi", "lo", "sum(n)")}
      FROM ${rowsToSum(summed, instants)}
      GROUP BY bucket, currency
    ) AS s
    FULL JOIN (${counts}
    ) AS c ON s.bucket = c.bucket AND s.currency = c.currency`;
}

function countByText(source: AggregateSource, bucket: string): string {
  const keys = { bucket, currency: "currency", ...columnKeys(withoutCurrency(source)) };
  return `
      SELECT bucket, currency, count() AS buckets, sum(n) AS n, 0 AS changed_meanwhile
      FROM ${rowsByKeys(source, keys, `${source.rows.count} AS n`)}
      GROUP BY bucket, currency`;
}

function countByNumber(
  { rows, condition }: AggregateSource,
  bucket: string,
  { position, counted }: KeyNumbers,
): string {
  return `
      SELECT ${bucket} AS bucket, ${CURRENCIES}[${position}] AS currency, ${counted}, ${rows.count} AS n
      FROM ${rows.from}
      WHERE ${condition}
      GROUP BY bucket, ${position}`;
}

/** Selects the same in one pass over the rows, if a filter rules out the tables of sums. */
function countTogether({ rows, condition }: AggregateSource, bucket: string, numbers: KeyNumbers): string {
  return `
      SELECT ${bucket} AS bucket, ${CURRENCIES}[${numbers.position}] AS currency, ${sums("amount_hi", "amount_lo", rows.count)}, ${numbers.counted}
      FROM ${rows.from}
      WHERE ${condition}
      GROUP BY bucket, ${numbers.position}`;
}

interface KeyNumbers {
  /** Named expressions, to put after the WITH of the whole statement. */
  readonly withClauses: readonly string[];
  /**
   * Position of the currency in the list of currencies, from 1; 0 if it was added since. A number groups faster than a
   * text.
   */
  readonly position: string;
  /** The columns `buckets` and `changed_meanwhile`. */
  readonly counted: string;
}

const CURRENCIES = "values_of_currency";

/** The number of combinations that can be counted this way. */
const MAX_COMBINATIONS = "1152921504606846976"; // 2^60

/**
 * Encodes each combination of keys as one number, and counts them in a bitmap: 24 million of 100 M rows in 2.5 s, where
 * grouping by the texts took 23 s. The digits of the number are positions in constant arrays of all values. A value
 * that was added since gets a digit that makes the number larger than all others.
 */
function keyNumbers(source: AggregateSource, input: AggregateInput): KeyNumbers {
  const columns = withoutCurrency(source);
  const radix = (index: number) => columns[index]?.valueCount ?? `length(values_${index})`;
  const divisor = (index: number) =>
    // Without rows there are no values. The product must not be 0 then, because it is a divisor.
    ["toUInt64(1)", ...columns.map((_, at) => `greatest(${radix(at)}, 1)`).slice(index + 1)].join(" * ");
  // The cast turns dictionary values into plain numbers, which are faster to add.
  const digits = columns.map(({ key, valueCount }, index) =>
    valueCount === undefined
      ? `CAST(transform(${key}, values_${index}, range(length(values_${index})), intDiv(${MAX_COMBINATIONS} * 2, ${divisor(index)})) AS UInt64)`
      : `toUInt64(${key} - 1)`,
  );
  const number = digits.reduce((before, next, index) => `(${before}) * ${radix(index)} + ${next}`, "0");
  const currencies = valueCodes(CURRENCIES, "currency", input.window, "chargebacks.currency");
  const combinations = ["1", ...columns.map((_, index) => `toFloat64(${radix(index)})`)].join(" * ");
  const position = `CAST(${currencies.position} AS UInt16)`;
  return {
    withClauses: [
      currencies.list,
      ...columns.flatMap(({ key, valueCount }, index) =>
        valueCount === undefined ? [valueCodes(`values_${index}`, key, input.window).list] : [],
      ),
    ],
    position,
    counted: `groupBitmapState(toUInt64(${number})) AS found, bitmapCardinality(found) AS buckets,
        bitmapMax(found) >= ${MAX_COMBINATIONS} OR ${combinations} > ${MAX_COMBINATIONS} OR ${position} = 0 AS changed_meanwhile`,
  };
}

/** Totals are by currency, ascending, for currencies that have rows. */
export interface BucketLimit {
  /**
   * The last instant with rows of the time bucket in which the limit is reached, or of all rows if it is not reached.
   * In seconds since 1970.
   */
  readonly lastInstant: number;
  /** Totals up to and including that time bucket. */
  readonly totalsUpToLimit: readonly CurrencyTotals[];
  readonly totals: readonly CurrencyTotals[];
  readonly changedMeanwhile: boolean;
}

/** The cache of one tenant. */
export interface BucketRowCache {
  /** Returns the rows of the window. Calls `read` once, for the range of days that are not cached. */
  of(
    input: AggregateInput,
    read: (window: DateWindow) => Promise<readonly BucketRow[]>,
  ): Promise<readonly BucketRow[]>;
}

export interface BucketLimitOptions {
  readonly signal?: AbortSignal | undefined;
  /** A cache of rows. Without it, all rows are read. */
  readonly cache?: BucketRowCache | undefined;
}

/** Returns undefined if there are no rows. */
export async function readBucketLimit(
  client: ClickHouseClient,
  input: AggregateInput,
  { signal, cache }: BucketLimitOptions = {},
): Promise<BucketLimit | undefined> {
  const read = (window: DateWindow) =>
    readTuples<BucketRow>(client, bucketLimitSql({ ...input, window }), signal);
  const rows = cache === undefined ? await read(input.window) : await cache.of(input, read);
  return rows.length === 0 ? undefined : bucketLimitOf(rows);
}

/** Expects rows in the order of buckets. */
function bucketLimitOf(rows: readonly BucketRow[]): BucketLimit {
  let [limitBucket] = rows.at(-1) ?? [0];
  let buckets = 0;
  for (const [bucket, , , , , , , bucketCount] of rows) {
    buckets += bucketCount;
    if (buckets < BUCKET_LIMIT) continue;
    limitBucket = bucket;
    break;
  }
  const upToLimit = rows.filter(([bucket]) => bucket <= limitBucket);
  return {
    lastInstant: Math.max(...upToLimit.map(([, last]) => last)),
    totalsUpToLimit: totalsByCurrency(upToLimit),
    totals: totalsByCurrency(rows),
    changedMeanwhile: rows.some((row) => row[8] === 1),
  };
}

function totalsByCurrency(rows: readonly BucketRow[]): CurrencyTotals[] {
  return sumByCurrency(
    rows.map(([, , currency, total, usage, shared, n, buckets]) => [
      currency,
      total,
      usage,
      shared,
      n,
      buckets,
    ]),
  );
}

/**
 * How far an aggregation reaches: its totals, and the instant up to which its first buckets lie, without computing any bucket.
 *
 * Buckets are returned in the order of time, at most 10,000 of them, but there may be twenty million. Computing them all, and
 * throwing nearly all away, took 1.1 s (a million, 100 M rows, from sums) or 23 s (24 million, from the rows). Counting
 * them takes 0.35 s and 2.5 s, and the first 10,000 then lie in the first few days.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readTuples, type Statement } from "../../store/clickhouse/statement.js";
import { bucketKey } from "../time/bucket.js";
import type { DateWindow } from "../time/date-window.js";
import { BUCKET_LIMIT } from "./aggregate-buckets.js";
import { addedUp, type CurrencyTotals } from "./aggregate-result.js";
import {
  type AggregateInput,
  type AggregateSource,
  aggregateSource,
  type SourceColumn,
} from "./aggregate-source.js";
import { withNames } from "./scan.js";
import { columnKeys, rowsByKeys, rowsToSum } from "./sum-source.js";
import { valueCodes } from "./value-codes.js";

/** Of the rows of a time bucket in one currency. */
export type BucketRow = readonly [
  /** Tells time buckets apart, and orders them. */
  bucket: number,
  /** Last instant that has rows, in seconds since 1970. */
  last: number,
  currency: string,
  /** Plain decimals. */
  total: string,
  usage: string,
  shared: string,
  rows: number,
  /** Buckets of the aggregation. */
  buckets: number,
  /** Rows changed while they were counted: the figures do not belong together. */
  unsteady: 0 | 1,
];

/** Rows as `BucketRow`, by bucket and currency. */
export function bucketLimitSql(input: AggregateInput): Statement {
  const source = aggregateSource(input);
  const { sql: bucket, params } = bucketKey(input.timeBucket, input.window);
  const summed = aggregateSource({ ...input, groupBy: [] });
  const numbers = source.rows.areSums ? undefined : keyNumbers(source, input);
  const counted =
    numbers === undefined || summed.rows.areSums
      ? countedApart(summed, source, bucket, numbers)
      : countedAtOnce(source, bucket, numbers);
  return {
    query: `
${withNames(...source.names, ...(numbers?.names ?? []))}SELECT CAST(bucket AS Int64), toUnixTimestamp(last), toString(currency),
  toString(total), toString(usage), toString(shared), n, buckets, toUInt8(unsteady)
FROM (${counted})
ORDER BY bucket, currency`,
    params: { ...source.params, ...params },
  };
}

const sums = (hi: string, lo: string, n: string) => `max(timestamp) AS last, sum(${hi}) + sum(${lo}) AS total,
        sumIf(${hi}, cost_type = 'usage') + sumIf(${lo}, cost_type = 'usage') AS usage,
        sumIf(${hi}, cost_type = 'shared') + sumIf(${lo}, cost_type = 'shared') AS shared, ${n} AS n`;

/** The other columns that are grouped by: sums and counts are by currency anyway. */
function besidesCurrency({ columns, currencyAt }: AggregateSource): SourceColumn[] {
  return columns.filter((_, index) => index !== currencyAt);
}

/**
 * Rows `{bucket, currency, last, total, usage, shared, n, buckets, unsteady}`, summed and counted apart, each by as few keys as it needs. A table of sums has
 * the sums: 0.1 and 0.28 s where together they took 0.6 s, if it has the keys of the buckets as well; if not, 3.5 s where together they took
 * 4.6 s of processor time (20 M rows).
 */
function countedApart(
  summed: AggregateSource,
  source: AggregateSource,
  bucket: string,
  numbers: KeyNumbers | undefined,
): string {
  const instants = { timestamp: "timestamp", cost_type: "cost_type", currency: "currency" };
  const counts =
    numbers === undefined ? countedByText(source, bucket) : countedByNumber(source, bucket, numbers);
  return `
    SELECT s.bucket AS bucket, s.currency AS currency, s.last AS last, s.total AS total, s.usage AS usage, s.shared AS shared, s.n AS n,
      c.buckets AS buckets, s.n != c.n OR c.unsteady AS unsteady
    FROM (
      SELECT ${bucket} AS bucket, currency, ${sums("hi", "lo", "sum(n)")}
      FROM ${rowsToSum(summed, instants)}
      GROUP BY bucket, currency
    ) AS s
    FULL JOIN (${counts}
    ) AS c ON s.bucket = c.bucket AND s.currency = c.currency`;
}

function countedByText(source: AggregateSource, bucket: string): string {
  const keys = { bucket, currency: "currency", ...columnKeys(besidesCurrency(source)) };
  return `
      SELECT bucket, currency, count() AS buckets, sum(n) AS n, 0 AS unsteady
      FROM ${rowsByKeys(source, keys, `${source.rows.count} AS n`)}
      GROUP BY bucket, currency`;
}

function countedByNumber(
  { rows, condition }: AggregateSource,
  bucket: string,
  { place, counted }: KeyNumbers,
): string {
  return `
      SELECT ${bucket} AS bucket, ${CURRENCIES}[${place}] AS currency, ${counted}, ${rows.count} AS n
      FROM ${rows.from}
      WHERE ${condition}
      GROUP BY bucket, ${place}`;
}

/** The same in one pass over the rows, where a filter keeps tables of sums from having them. */
function countedAtOnce({ rows, condition }: AggregateSource, bucket: string, numbers: KeyNumbers): string {
  return `
      SELECT ${bucket} AS bucket, ${CURRENCIES}[${numbers.place}] AS currency, ${sums("amount_hi", "amount_lo", rows.count)}, ${numbers.counted}
      FROM ${rows.from}
      WHERE ${condition}
      GROUP BY bucket, ${numbers.place}`;
}

interface KeyNumbers {
  /** Stand behind the WITH of the whole statement. */
  readonly names: readonly string[];
  /** Place of the currency among those there are, from 1; 0 of one that came up since then. A number groups faster than the text. */
  readonly place: string;
  /** Columns `buckets` and `unsteady`. */
  readonly counted: string;
}

const CURRENCIES = "values_of_currency";

/** More buckets than numbers below this could tell apart are not counted this way. */
const LARGEST_NUMBER = "1152921504606846976"; // 2^60

/**
 * Each combination of keys as one number, and those in a bitmap: 24 million of 100 M rows in 2.5 s, where grouping by the texts took
 * 23 s. The digits of the number are places in constant arrays of all values there are. A value that came up since then gets
 * a digit that carries the number above all others.
 */
function keyNumbers(source: AggregateSource, input: AggregateInput): KeyNumbers {
  const columns = besidesCurrency(source);
  const radix = (index: number) => columns[index]?.places ?? `length(values_${index})`;
  const behind = (index: number) =>
    // There are no values without rows; the product must not be 0 then, since it divides.
    ["toUInt64(1)", ...columns.map((_, at) => `greatest(${radix(at)}, 1)`).slice(index + 1)].join(" * ");
  // The cast makes plain numbers of what is looked up in the dictionaries of the columns: they are added up faster.
  const digits = columns.map(({ key, places }, index) =>
    places === undefined
      ? `CAST(transform(${key}, values_${index}, range(length(values_${index})), intDiv(${LARGEST_NUMBER} * 2, ${behind(index)})) AS UInt64)`
      : `toUInt64(${key} - 1)`,
  );
  const number = digits.reduce((before, next, index) => `(${before}) * ${radix(index)} + ${next}`, "0");
  const currencies = valueCodes(CURRENCIES, "currency", input.window, "chargebacks.currency");
  const combinations = ["1", ...columns.map((_, index) => `toFloat64(${radix(index)})`)].join(" * ");
  const place = `CAST(${currencies.position} AS UInt16)`;
  return {
    names: [
      currencies.list,
      ...columns.flatMap(({ key, places }, index) =>
        places === undefined ? [valueCodes(`values_${index}`, key, input.window).list] : [],
      ),
    ],
    place,
    counted: `groupBitmapState(toUInt64(${number})) AS found, bitmapCardinality(found) AS buckets,
        bitmapMax(found) >= ${LARGEST_NUMBER} OR ${combinations} > ${LARGEST_NUMBER} OR ${place} = 0 AS unsteady`,
  };
}

/** Totals are by currency, ascending, of currencies that have rows. */
export interface BucketLimit {
  /** Last instant that has rows of the time bucket in which the limit is reached; of all, if it is not. In seconds since 1970. */
  readonly last: number;
  /** Up to and with that time bucket. */
  readonly near: readonly CurrencyTotals[];
  readonly all: readonly CurrencyTotals[];
  readonly unsteady: boolean;
}

/** What is remembered of one tenant. */
export interface BucketRowCache {
  /** What `read` returns for the window of the input. It is asked for the days that are not known, in one piece. */
  of(
    input: AggregateInput,
    read: (window: DateWindow) => Promise<readonly BucketRow[]>,
  ): Promise<readonly BucketRow[]>;
}

export interface BucketLimitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Without it, all rows are read. */
  readonly known?: BucketRowCache | undefined;
}

/** Undefined when there are no rows. */
export async function readBucketLimit(
  client: ClickHouseClient,
  input: AggregateInput,
  { signal, known }: BucketLimitOptions = {},
): Promise<BucketLimit | undefined> {
  const read = (window: DateWindow) =>
    readTuples<BucketRow>(client, bucketLimitSql({ ...input, window }), signal);
  const rows = known === undefined ? await read(input.window) : await known.of(input, read);
  return rows.length === 0 ? undefined : bucketLimitOf(rows);
}

/** Rows come by bucket. */
function bucketLimitOf(rows: readonly BucketRow[]): BucketLimit {
  let [full] = rows.at(-1) ?? [0];
  let buckets = 0;
  for (const [bucket, , , , , , , ofBucket] of rows) {
    buckets += ofBucket;
    if (buckets < BUCKET_LIMIT) continue;
    full = bucket;
    break;
  }
  const near = rows.filter(([bucket]) => bucket <= full);
  return {
    last: Math.max(...near.map(([, last]) => last)),
    near: totalsByCurrency(near),
    all: totalsByCurrency(rows),
    unsteady: rows.some((row) => row[8] === 1),
  };
}

function totalsByCurrency(rows: readonly BucketRow[]): CurrencyTotals[] {
  return addedUp(
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

/**
 * How far an aggregation reaches: its totals, and up to which instant its first buckets lie, without making any bucket.
 *
 * Buckets are answered in the order of time and at most 10,000 of them, but there may be twenty million. To make them all, and throw
 * nearly all away, took 1.1 s (a million, 100 M rows, from a projection) or 23 s (24 million, from the table). To count them takes 0.35 s
 * and 2.5 s, and the first 10,000 then lie in the first few days.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readTuples, type Statement } from "../../store/clickhouse/statement.js";
import { bucketKey } from "../time/bucket.js";
import { BUCKET_LIMIT } from "./aggregate-buckets.js";
import { type AggregateInput, type AggregateSource, aggregateSource } from "./aggregate-source.js";
import { instantsInWindow, withNames } from "./scan.js";

/** Sums up to and with one time bucket. Amounts are plain decimals. */
export interface AggregateExtent {
  /** Last instant that has rows, in seconds since 1970. */
  readonly last: number;
  readonly total: string;
  readonly usage: string;
  readonly shared: string;
  readonly rows: string;
  readonly buckets: string;
  /** Rows changed while they were counted: the figures do not belong together. */
  readonly unsteady: boolean;
}

/** Rows as `StoredExtent`. None without rows; else one or two: of the time bucket in which the limit is reached, if it is, and of the last one. */
export function aggregateExtent(input: AggregateInput): Statement {
  const source = aggregateSource(input);
  const { sql: bucket, params } = bucketKey(input.timeBucket, input.window);
  const { names, counted } = source.projected
    ? countedFromProjection(source, bucket)
    : countedByRank(source, bucket, input);
  return {
    query: `
${withNames(...source.names, ...names)}SELECT toUnixTimestamp(last), toString(total_so_far), toString(usage_so_far), toString(shared_so_far), toString(rows_so_far),
  toString(buckets_so_far), unsteady_so_far > 0
FROM (
  SELECT bucket, last, max(bucket) OVER () AS last_bucket, buckets,
    sum(total) OVER w AS total_so_far, sum(usage) OVER w AS usage_so_far, sum(shared) OVER w AS shared_so_far,
    sum(n) OVER w AS rows_so_far, sum(buckets) OVER w AS buckets_so_far, sum(unsteady) OVER w AS unsteady_so_far
  FROM (${counted})
  WINDOW w AS (ORDER BY bucket)
)
WHERE bucket = last_bucket OR (buckets_so_far >= {bucket_limit:UInt32} AND buckets_so_far - buckets < {bucket_limit:UInt32})
ORDER BY bucket`,
    params: {
      ...source.params,
      ...(!source.projected && instantsInWindow(input.window).params),
      ...params,
      bucket_limit: BUCKET_LIMIT,
    },
  };
}

const sums = (hi: string, lo: string, n: string) => `max(timestamp) AS last, sum(${hi}) + sum(${lo}) AS total,
        sumIf(${hi}, cost_type = 'usage') + sumIf(${lo}, cost_type = 'usage') AS usage,
        sumIf(${hi}, cost_type = 'shared') + sumIf(${lo}, cost_type = 'shared') AS shared, ${n} AS n`;

interface Counted {
  readonly names: readonly string[];
  /** Rows `{bucket, last, total, usage, shared, n, buckets, unsteady}`. */
  readonly counted: string;
}

/** Sums and counts apart, each by as few keys as it needs: 0.1 and 0.28 s, where together they take 0.6 s. */
function countedFromProjection({ columns, condition }: AggregateSource, bucket: string): Counted {
  const keys = columns.map(({ key }, index) => `${key} AS c${index}`).join(", ");
  const groups = columns.map((_, index) => `c${index}`).join(", ");
  const read = [...new Set(columns.map(({ key, column = key }) => column))].join(", ");
  return {
    names: [],
    counted: `
    SELECT s.bucket AS bucket, s.last AS last, s.total AS total, s.usage AS usage, s.shared AS shared, s.n AS n,
      c.buckets AS buckets, s.n != c.n AS unsteady
    FROM (
      SELECT ${bucket} AS bucket, ${sums("hi", "lo", "sum(rows_of)")}
      FROM (
        SELECT timestamp, cost_type, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS rows_of
        FROM chargebacks WHERE ${condition} GROUP BY timestamp, cost_type
      )
      GROUP BY bucket
    ) AS s
    FULL JOIN (
      SELECT bucket, count() AS buckets, sum(rows_of) AS n
      FROM (
        SELECT ${bucket} AS bucket, ${keys}, sum(rows_of_instant) AS rows_of
        FROM (SELECT timestamp, ${read}, count() AS rows_of_instant FROM chargebacks WHERE ${condition} GROUP BY timestamp, ${read})
        GROUP BY bucket, ${groups}
      )
      GROUP BY bucket
    ) AS c ON s.bucket = c.bucket`,
  };
}

/** More buckets than numbers below this could tell apart are not counted this way. */
const LARGEST_NUMBER = "1152921504606846976"; // 2^60

/**
 * Each combination of keys as one number, and those in a bitmap: 24 million of 100 M rows in 2.5 s, where grouping by the texts took
 * 23 s. The digits of the number are places in constant arrays of all values there are. A value that came up since then gets
 * a digit that carries the number above all others.
 */
function countedByRank(
  { columns, condition }: AggregateSource,
  bucket: string,
  input: AggregateInput,
): Counted {
  const radix = (index: number) => columns[index]?.places ?? `length(values_${index})`;
  const behind = (index: number) =>
    // There are no values without rows; the product must not be 0 then, since it divides.
    ["toUInt64(1)", ...columns.map((_, at) => `greatest(${radix(at)}, 1)`).slice(index + 1)].join(" * ");
  const digits = columns.map(({ key, places }, index) =>
    places === undefined
      ? `transform(${key}, values_${index}, range(length(values_${index})), intDiv(${LARGEST_NUMBER} * 2, ${behind(index)}))`
      : `toUInt64(${key} - 1)`,
  );
  const number = digits.reduce((before, next, index) => `(${before}) * ${radix(index)} + ${next}`);
  const instants = instantsInWindow(input.window).condition;
  const valuesOf = (column: string) =>
    `(SELECT groupArray(value) FROM (SELECT ${column} AS value FROM chargebacks WHERE ${instants} GROUP BY value))`;
  const combinations = columns.map((_, index) => `toFloat64(${radix(index)})`).join(" * ");
  return {
    names: columns.flatMap(({ key, places }, index) =>
      places === undefined ? [`${valuesOf(key)} AS values_${index}`] : [],
    ),
    counted: `
      SELECT ${bucket} AS bucket, ${sums("amount_hi", "amount_lo", "count()")},
        groupBitmapState(toUInt64(${number})) AS found, bitmapCardinality(found) AS buckets,
        bitmapMax(found) >= ${LARGEST_NUMBER} OR ${combinations} > ${LARGEST_NUMBER} AS unsteady
      FROM chargebacks
      WHERE ${condition}
      GROUP BY bucket`,
  };
}

type StoredExtent = readonly [
  last: number,
  total: string,
  usage: string,
  shared: string,
  rows: string,
  buckets: string,
  unsteady: number,
];

export async function readExtent(
  client: ClickHouseClient,
  input: AggregateInput,
  signal?: AbortSignal,
): Promise<AggregateExtent[]> {
  const stored = await readTuples<StoredExtent>(client, aggregateExtent(input), signal);
  return stored.map(([last, total, usage, shared, rows, buckets, unsteady]) => ({
    ...{ last, total, usage, shared, rows, buckets },
    unsteady: unsteady !== 0,
  }));
}

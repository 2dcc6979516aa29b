/**
 * SQL for DuckDB: the sums of the aggregation endpoint, buckets in order, the same maximum number, with totals over all
 * of them.
 */
import { BUCKET_LIMIT } from "../src/query/chargebacks/bucket-limit.js";
import { type AggregateInput, type GroupColumn, groupColumns } from "../src/query/chargebacks/summed-rows.js";

/** Tables of the same rows in two orders: like ours, and by identity and then day. */
export const layouts = { day: "by_day", identity: "by_identity" } as const;
export type DuckdbLayout = keyof typeof layouts;

type Ask = (sql: string) => Promise<readonly string[][]>;

interface DuckWay {
  readonly name: string;
  run(send: Ask, table: string, input: AggregateInput): Promise<void>;
}

const SUMS = `sum(amount) AS total, sum(amount) FILTER (cost_type = 'usage') AS usage,
  sum(amount) FILTER (cost_type = 'shared') AS shared, count(*) AS n`;

/**
 * One statement for all buckets; and two as in the service: first the range of the first buckets, then those buckets.
 */
export const duckWays: readonly DuckWay[] = [
  {
    name: "one statement",
    async run(send, table, input) {
      const { keys, where } = partsOf(input);
      await send(`
WITH buckets AS (SELECT ${keys.select}, ${SUMS} FROM ${table} WHERE ${where} GROUP BY ALL)
SELECT *, sum(total) OVER (), sum(usage) OVER (), sum(shared) OVER (), sum(n) OVER (), count(*) OVER ()
FROM buckets ORDER BY ${keys.names} LIMIT ${BUCKET_LIMIT}`);
    },
  },
  {
    name: "two statements",
    async run(send, table, input) {
      const { keys, where } = partsOf(input);
      const extent = `
WITH buckets AS (SELECT ${keys.select}, ${SUMS} FROM ${table} WHERE ${where} GROUP BY ALL)
SELECT bucket, count(*), sum(total), sum(usage), sum(shared), sum(n) FROM buckets GROUP BY bucket ORDER BY bucket`;
      await firstBuckets(send, table, input, await send(extent));
    },
  },
  {
    name: "two statements, buckets counted apart",
    async run(send, table, input) {
      const { keys, where } = partsOf(input);
      const extent = `
SELECT bucket, buckets, total, usage, shared, n
FROM (SELECT CAST(timestamp AS DATE) AS bucket, ${SUMS} FROM ${table} WHERE ${where} GROUP BY bucket)
JOIN (SELECT bucket, count(*) AS buckets FROM (SELECT DISTINCT ${keys.select} FROM ${table} WHERE ${where}) GROUP BY bucket) USING (bucket)
ORDER BY bucket`;
      await firstBuckets(send, table, input, await send(extent));
    },
  },
];

async function firstBuckets(
  send: Ask,
  table: string,
  input: AggregateInput,
  extent: readonly string[][],
): Promise<void> {
  let counted = 0;
  const reached = extent.find(([, buckets]) => {
    counted += Number(buckets);
    return counted >= BUCKET_LIMIT;
  });
  const [last] = reached ?? extent.at(-1) ?? [];
  const { keys, where } = partsOf(input);
  await send(`
SELECT ${keys.select}, ${SUMS} FROM ${table} WHERE ${where} AND timestamp < CAST(DATE '${last}' AS TIMESTAMP) + INTERVAL 1 DAY
GROUP BY ALL ORDER BY ${keys.names} LIMIT ${BUCKET_LIMIT}`);
}

/** With all digits, which take more time to add up, so this is not what is timed. */
export function comparableBuckets(input: AggregateInput): string {
  const { keys, where } = partsOf(input);
  const exact = (filter: string) => `coalesce(sum(amount)${filter}, 0) + coalesce(sum(residue)${filter}, 0)`;
  return `
WITH buckets AS (
  SELECT ${keys.select}, ${exact("")} AS total, ${exact(" FILTER (cost_type = 'usage')")} AS usage,
    ${exact(" FILTER (cost_type = 'shared')")} AS shared, count(*) AS n
  FROM ${layouts.day} WHERE ${where} GROUP BY ALL
)
SELECT *, sum(total) OVER (), sum(usage) OVER (), sum(shared) OVER (), sum(n) OVER (), count(*) OVER ()
FROM buckets ORDER BY ${keys.names} LIMIT ${BUCKET_LIMIT}`;
}

function partsOf({ groupBy, filters, window }: AggregateInput) {
  const names = ["bucket", ...groupBy.map(storedColumn)];
  const instant = (seconds: number) =>
    `TIMESTAMP '${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")}'`;
  return {
    keys: {
      select: names
        .map((name) => (name === "bucket" ? "CAST(timestamp AS DATE) AS bucket" : name))
        .join(", "),
      names: names.join(", "),
    },
    where: [
      `timestamp >= ${instant(window.from)}`,
      `timestamp < ${instant(window.to)}`,
      ...(filters.identity_id === undefined ? [] : [`identity_id = '${filters.identity_id}'`]),
    ].join(" AND "),
  };
}

function storedColumn(name: GroupColumn): string {
  const stored = Object.entries(groupColumns).find(([each]) => each === name);
  if (stored === undefined) throw new Error(`DuckDB has no column for ${name}`);
  return stored[1];
}

/**
 * Rows as sums read them. If a projection has all the columns, the engine sums its rows by the keys right away. The statement
 * around it then combines the parts of a sum, because a projection can neither filter nor find the largest.
 */
import type { AggregateSource, SourceColumn } from "./aggregate-source.js";

/** Keys by the name that the statement around gives them: expressions over a row. */
type Keys = Readonly<Record<string, string>>;

/** The columns as keys `c0`, `c1` and so on. */
export function columnKeys(columns: readonly SourceColumn[]): Keys {
  return Object.fromEntries(columns.map(({ key }, index) => [`c${index}`, key]));
}

/**
 * What stands behind FROM. Has the keys, and of each row, or of rows that have all keys in common, the two parts of its amount and how
 * many it stands for: `hi`, `lo`, `n`. With all rows of 5 M, which are a million in the projection, in 4,000 groups: 0.48 s of processor time,
 * where grouping in the shape of the projection first took 1.32 s.
 */
export function rowsToSum(source: AggregateSource, keys: Keys): string {
  if (source.projected)
    return rowsByKeys(source, keys, "sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n");
  return `(
    SELECT ${named(keys)}, amount_hi AS hi, amount_lo AS lo, 1 AS n
    FROM chargebacks
    WHERE ${source.condition}
  )`;
}

/** Rows of equal keys as one, with these aggregates. Of a projection, where one has all the columns. */
export function rowsByKeys({ condition }: AggregateSource, keys: Keys, aggregates: string): string {
  return `(
    SELECT ${named(keys)}, ${aggregates}
    FROM chargebacks
    WHERE ${condition}
    GROUP BY ${Object.keys(keys).join(", ")}
  )`;
}

function named(keys: Keys): string {
  return Object.entries(keys)
    .map(([name, sql]) => (name === sql ? name : `${sql} AS ${name}`))
    .join(", ");
}

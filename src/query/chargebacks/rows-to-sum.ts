/** Rows as sums read them: in the shape of the projections when one has all the columns, else bare, since summing twice costs more than once. */
import type { AggregateSource } from "./aggregate-source.js";

export interface RowsToSum {
  /** What stands behind FROM, WHERE included. Has `timestamp`, `cost_type` and the columns. */
  readonly from: string;
  /** Expressions over a row: the two parts of its amount, and how many rows it stands for. */
  readonly hi: string;
  readonly lo: string;
  readonly n: string;
  /** UInt8 of a row: its day lacks something. The projections do not have it; where one is read, the few days are looked up. */
  readonly provisional: string;
}

export function rowsToSum({ columns, projected, condition }: AggregateSource): RowsToSum {
  if (!projected) {
    const from = `chargebacks\n  WHERE ${condition}`;
    return { from, hi: "amount_hi", lo: "amount_lo", n: "1", provisional: "toUInt8(provisional)" };
  }
  const summed = ["timestamp", ...columns.map(({ key, column = key }) => column), "cost_type"];
  const distinct = [...new Set(summed)].join(", ");
  return {
    from: `(
    SELECT ${distinct}, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n
    FROM chargebacks
    WHERE ${condition}
    GROUP BY ${distinct}
  )`,
    ...{ hi: "hi", lo: "lo", n: "n" },
    provisional: "(toDate(timestamp, 'UTC') IN (SELECT day FROM chargebacks WHERE provisional))",
  };
}

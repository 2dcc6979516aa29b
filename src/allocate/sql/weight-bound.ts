import { stagedTable } from "../../store/clickhouse/staging.js";
import type { Statement } from "../../store/clickhouse/statement.js";
import type { SplitLedger } from "../ledger.js";

/**
 * How large cost x weight can get in these days, as a power of ten, estimated generously: the largest line in units of 1e-12 times
 * all usage of a day, or times a millionth share. It decides between Int128 and Int256.
 */
export function weightBound(input: {
  ledger: SplitLedger;
  epoch: number;
  days: readonly string[];
}): Statement {
  return {
    query: `
SELECT
  (SELECT max(abs(toFloat64(total_cost))) * 1e12 FROM ${stagedTable("billing", input.epoch)} WHERE day IN {days:Array(Date)}) AS cost,
  (SELECT max(w) FROM (SELECT sum(toFloat64(micro_units)) AS w FROM ${stagedTable(input.ledger.usage, input.epoch)} WHERE day IN {days:Array(Date)} GROUP BY day)) AS weight,
  toFloat64(ifNull(log10(greatest(cost, 1)) + log10(greatest(weight, 1e8)), 0)) AS digits`,
    params: { days: input.days },
  };
}

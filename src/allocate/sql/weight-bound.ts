import { stagedTable } from "../../store/clickhouse/staging.js";
import type { Statement } from "../../store/clickhouse/statement.js";
import type { SplitLedger } from "../ledger.js";
import { storedSums } from "./usage-sums.js";

/**
 * How large cost x weight can get in these days, as a power of ten, estimated generously: the largest sum of a resource's lines at an instant
 * (lines that are the same are split as one), in units of 1e-12, times all usage of a day, or times a millionth share. It decides between
 * Int128 and Int256.
 *
 * And how many rows can come out at most, if each line of any day went to every fact and set member of all of them.
 */
export interface WeightBound {
  readonly digits: number;
  readonly rows_at_most: number;
  /** Samples of usage to a sum of a day. */
  readonly samples_a_sum: number;
}

export function weightBound(input: {
  ledger: SplitLedger;
  epoch: number;
  days: readonly string[];
}): Statement {
  const usage = stagedTable(input.ledger.usage, input.epoch);
  return {
    query: `
WITH
  (SELECT (max(cost) * 1e12, sum(n)) FROM (SELECT sum(abs(toFloat64(total_cost))) AS cost, count() AS n FROM ${stagedTable("billing", input.epoch)} WHERE day IN {days:Array(Date)} GROUP BY timestamp, resource_id)) AS bill,
  (SELECT max(toFloat64(weight)) FROM (SELECT sum(micro_units) AS weight FROM ${usage} WHERE day IN {days:Array(Date)} GROUP BY day)) AS most,
  (SELECT count() FROM ${usage} WHERE day IN {days:Array(Date)}) AS facts,
  (SELECT count() FROM ${input.ledger.sets(input.epoch)} WHERE day IN {days:Array(Date)}) AS members
SELECT
  toFloat64(ifNull(log10(greatest(bill.1, 1)) + log10(greatest(ifNull(most, 0), 1e8)), 0)) AS digits,
  toFloat64(ifNull(bill.2 * toFloat64(facts + members), 0)) AS rows_at_most,
  (SELECT if(sum(sums) = 0, 1, sum(samples) / sum(sums)) FROM ${storedSums(usage)}) AS samples_a_sum`,
    params: { days: input.days },
  };
}

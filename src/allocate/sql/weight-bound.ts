import { stagedTable } from "../../clickhouse/staging.js";
import type { Statement } from "../../clickhouse/statement.js";
import { otherCosts } from "../../domain/other-costs.js";
import type { SplitLedger } from "../ledger.js";
import { hashOfLine } from "./repeated-lines.js";
import { storedSums } from "./usage-sums.js";

/**
 * An upper bound of cost x weight in these days, as a power of ten, estimated generously. The cost is the largest sum
 * of a resource's lines at an instant (equal lines are split together), in units of 1e-12. The weight is all usage of a
 * day, or a millionth share. If the bill has other costs, the bound is also one of the product of two costs in ticks. It
 * decides between Int128 and Int256.
 *
 * Also an upper bound of resulting rows, if each line went to every fact and set member of all these days; and whether
 * lines may share a key.
 */
export interface WeightBound {
  readonly digits: number;
  readonly rows_at_most: number;
  /** Samples of usage per sum of a day. */
  readonly samples_a_sum: number;
  /** True if several lines have the same hash of their key. */
  readonly has_repeated_lines: boolean;
}

export function weightBound(input: {
  ledger: SplitLedger;
  epoch: number;
  days: readonly string[];
  hasOtherCosts: boolean;
  decimalPlaces: number;
}): Statement {
  const costs = ["total_cost", ...(input.hasOtherCosts ? otherCosts : [])];
  const largest = costs.map((name) => `sum(abs(toFloat64(${name})))`);
  const cost = largest.length === 1 ? largest[0] : `greatest(${largest.join(", ")})`;
  const digits = "log10(greatest(bill.1, 1)) + log10(greatest(ifNull(most, 0), 1e8))";
  const ofCosts = `2 * (log10(greatest(bill.1, 1)) - ${12 - input.decimalPlaces})`;
  const usage = stagedTable(input.ledger.usage, input.epoch);
  const bill = `${stagedTable("billing", input.epoch)} WHERE day IN {days:Array(Date)}`;
  return {
    query: `
WITH
  (SELECT (max(cost) * 1e12, sum(n)) FROM (SELECT ${cost} AS cost, count() AS n FROM ${bill} GROUP BY timestamp, resource_id)) AS bill,
  (SELECT max(toFloat64(weight)) FROM (SELECT sum(micro_units) AS weight FROM ${usage} WHERE day IN {days:Array(Date)} GROUP BY day)) AS most,
  (SELECT count() FROM ${usage} WHERE day IN {days:Array(Date)}) AS facts,
  (SELECT count() FROM ${input.ledger.sets(input.epoch)} WHERE day IN {days:Array(Date)}) AS members
SELECT
  toFloat64(ifNull(${input.hasOtherCosts ? `greatest(${digits}, ${ofCosts})` : digits}, 0)) AS digits,
  toFloat64(ifNull(bill.2 * toFloat64(facts + members), 0)) AS rows_at_most,
  (SELECT if(sum(sums) = 0, 1, sum(samples) / sum(sums)) FROM ${storedSums(usage)}) AS samples_a_sum,
  toBool(ifNull((SELECT max(n) > 1 FROM (SELECT count() AS n FROM ${bill} GROUP BY ${hashOfLine(input.ledger)})), 0)) AS has_repeated_lines`,
    params: { days: input.days },
  };
}

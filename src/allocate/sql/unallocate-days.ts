import { stagedTable } from "../../clickhouse/staging.js";
import type { Statement } from "../../clickhouse/statement.js";
import { lineColumns, lineKeySql, rowKeySql } from "../../domain/ledger.js";
import { otherCosts } from "../../domain/other-costs.js";
import { ruledLines, type SplitLedger } from "../ledger.js";

/**
 * The last resort for days whose allocation failed as often as their limit allows: every line goes as a whole to
 * `nobody`, with a detail that says so. There are no joins and no arithmetic, so nothing here can fail because of size.
 */
export function unallocateDays(input: {
  ledger: SplitLedger;
  epoch: number;
  rulesHash: string;
  /** Decimal places of a tick, 2 to 12. Only recorded, because nothing is split. */
  decimalPlaces: number;
  days: readonly string[];
  provisional: readonly string[];
  /** Hash of each day's input, in the order of the days. */
  revisions: readonly string[];
  hasOtherCosts: boolean;
}): Statement {
  const { ledger, epoch } = input;
  const same = lineColumns(ledger, "same");
  const costs = input.hasOtherCosts ? otherCosts : [];
  return {
    query: `
INSERT INTO ${stagedTable(ledger.name, epoch)}
  (${rowKeySql(ledger)}, ${same.map(({ rowColumn }) => rowColumn).join(", ")}, ${ledger.recipient},
   ${Object.keys(ledger.givenUp).join(", ")}, provisional, ${["amount_hi", "amount_lo", ...costs].join(", ")})
SELECT ${lineKeySql(ledger)}, ${same.map(({ billColumn }) => `any(${billColumn})`).join(", ")}, '${ledger.nobody}',
  ${Object.values(ledger.givenUp).join(", ")},
  has({provisional_days:Array(Date)}, toDate(timestamp, 'UTC')), ${["0", ...["total_cost", ...costs].map((name) => `sum(${name})`)].join(", ")}
FROM ${stagedTable("billing", epoch)}
WHERE day IN {days:Array(Date)}${ruledLines(ledger)}
GROUP BY ${lineKeySql(ledger)}`,
    params: {
      days: input.days,
      provisional_days: input.provisional,
      revisions: input.revisions,
      rules_hash: input.rulesHash,
      decimal_places: input.decimalPlaces,
    },
  };
}

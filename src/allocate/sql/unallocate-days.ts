import { stagedTable } from "../../store/clickhouse/staging.js";
import type { Statement } from "../../store/clickhouse/statement.js";
import { lineKeySql } from "../../store/ledger.js";
import { ruledLines, type SplitLedger } from "../ledger.js";

/**
 * The last resort for days whose allocation failed as often as their limit allows: every line, whole, to nobody, with a detail
 * that says so. No joins and no arithmetic: nothing here can fail for size.
 */
export function unallocateDays(input: {
  ledger: SplitLedger;
  epoch: number;
  rulesHash: string;
  days: readonly string[];
  provisional: readonly string[];
}): Statement {
  const { ledger, epoch } = input;
  return {
    query: `
INSERT INTO ${stagedTable(ledger.name, epoch)}
  (${lineKeySql(ledger.resource)}, ecosystem, tenant_id, ${ledger.recipient},
   ${Object.keys(ledger.givenUp).join(", ")}, provisional, amount_hi, amount_lo)
SELECT ${lineKeySql()}, any(ecosystem), any(tenant_id), '${ledger.nobody}',
  ${Object.values(ledger.givenUp).join(", ")},
  has({provisional_days:Array(Date)}, toDate(timestamp, 'UTC')), 0, sum(total_cost)
FROM ${stagedTable("billing", epoch)}
WHERE day IN {days:Array(Date)}${ruledLines(ledger)}
GROUP BY ${lineKeySql()}`,
    params: { days: input.days, rules_hash: input.rulesHash, provisional_days: input.provisional },
  };
}

import { type Ledger, type LedgerName, ledgerNames, ledgers } from "../../store/ledger.js";
import type { Statement } from "../../store/postgres/statement.js";

/** What some days lack, in one sentence. */
export interface LackingDays {
  readonly ledger: LedgerName;
  readonly lack: string;
  /** They are gathered again until it comes, or it is given up; else they are settled without it. */
  readonly provisional: boolean;
  /** Ascending. */
  readonly days: readonly string[];
}

/** What days lacked when they were gathered last, of each cause the days. In: tenant, first day, day after the last. */
export function lackingDays(input: { tenantName: string; start: string; end: string }): Statement {
  const ofLedger = ({ name, state }: Ledger) => `
  SELECT '${name}' AS ledger, unnest(lacks) AS lack, provisional, tracking_date FROM ${state}
  WHERE tenant_name = $1 AND tracking_date >= $2 AND tracking_date < $3`;
  return {
    query: `
SELECT ledger, lack, provisional, array_agg(to_char(tracking_date, 'YYYY-MM-DD') ORDER BY tracking_date) AS days
FROM (${ledgerNames.map((name) => ofLedger(ledgers[name])).join("\n  UNION ALL")}
) AS lacking
GROUP BY ledger, lack, provisional
ORDER BY min(tracking_date), ledger, lack, provisional`,
    params: [input.tenantName, input.start, input.end],
  };
}

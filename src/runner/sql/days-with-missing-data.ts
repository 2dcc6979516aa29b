import { type Ledger, type LedgerName, ledgerNames, ledgers } from "../../store/ledger.js";
import type { Statement } from "../../store/postgres/statement.js";

/** What some days lack, in one sentence. */
export interface DaysWithMissingData {
  readonly ledger: LedgerName;
  readonly lack: string;
  /** The days are gathered again until it arrives or the attempts are used up. If false, they were settled without it. */
  readonly provisional: boolean;
  /** This run calculated them. */
  readonly calculated_now: boolean;
  /** Ascending. */
  readonly days: readonly string[];
}

/** For each cause the days that lacked something when they were last gathered. In: tenant, first day, day after the last, run. */
export function daysWithMissingData(input: {
  tenantName: string;
  start: string;
  end: string;
  runId: string;
}): Statement {
  const ofLedger = ({ name, state }: Ledger) => `
  SELECT '${name}' AS ledger, unnest(lacks) AS lack, provisional, tracking_date,
    coalesce(calculated_at >= (SELECT started_at FROM runs WHERE run_id = $4), false) AS calculated_now
  FROM ${state}
  WHERE tenant_name = $1 AND tracking_date >= $2 AND tracking_date < $3`;
  return {
    query: `
SELECT ledger, lack, provisional, calculated_now, array_agg(to_char(tracking_date, 'YYYY-MM-DD') ORDER BY tracking_date) AS days
FROM (${ledgerNames.map((name) => ofLedger(ledgers[name])).join("\n  UNION ALL")}
) AS lacking
GROUP BY ledger, lack, provisional, calculated_now
ORDER BY min(tracking_date), ledger, lack, provisional, calculated_now`,
    params: [input.tenantName, input.start, input.end, input.runId],
  };
}

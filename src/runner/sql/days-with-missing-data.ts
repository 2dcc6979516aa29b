import { type Ledger, type LedgerName, ledgerNames, ledgers } from "../../domain/ledger.js";
import type { PgStatement } from "../../postgres/statement.js";

/** Missing data of some days, as one sentence. */
export interface DaysWithMissingData {
  readonly ledger: LedgerName;
  readonly lack: string;
  /**
   * True if the days are gathered again until the data arrives or the attempts are used up. False if they are final
   * without it.
   */
  readonly provisional: boolean;
  /** True if this run calculated the days. */
  readonly calculated_now: boolean;
  /** Ascending. */
  readonly days: readonly string[];
}

/**
 * Returns, for each cause, the days that had missing data when they were last gathered. In: tenant, first day, day
 * after the last, run.
 */
export function daysWithMissingData(input: {
  tenantName: string;
  start: string;
  end: string;
  runId: string;
}): PgStatement {
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

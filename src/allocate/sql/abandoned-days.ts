import type { DayRange } from "../../common/days.js";
import type { Ledger } from "../../domain/ledger.js";
import { inputHashOf } from "../../domain/provisional-hash.js";
import type { PgStatement } from "../../postgres/statement.js";

/** A provisional day that is not gathered any more, and its hash once it is final. */
export interface AbandonedDay {
  readonly day: string;
  readonly settled_hash: string;
}

/**
 * Selects a ledger's provisional days before `before`, ascending, that nothing waits for and that the store has.
 * `gathered` are days that this run gathered nevertheless. Leaves out days with a staged bill: making one final would
 * replace that bill by the published one.
 */
export function abandonedDays(input: {
  ledger: Ledger;
  tenantName: string;
  before: string;
  gathered: DayRange;
}): PgStatement {
  const { ledger, tenantName, before, gathered } = input;
  return {
    query: `
SELECT to_char(tracking_date, 'YYYY-MM-DD') AS day, ${inputHashOf("published_hash")} AS settled_hash FROM ${ledger.state}
WHERE tenant_name = $1 AND tracking_date < $2 AND NOT (tracking_date >= $3 AND tracking_date < $4)
  AND provisional AND staged_hash IS NULL AND publishing_hash IS NULL AND lost_at IS NULL
  AND tracking_date NOT IN (SELECT tracking_date FROM tracking_dates WHERE tenant_name = $1 AND staged_hash IS NOT NULL)
ORDER BY tracking_date`,
    params: [tenantName, before, gathered.start, gathered.end],
  };
}

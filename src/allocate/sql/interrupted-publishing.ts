import type { Ledger } from "../../domain/ledger.js";
import type { PgStatement } from "../../postgres/statement.js";

/** A day whose swap began but was not recorded as finished. */
export interface InterruptedDay {
  readonly day: string;
  readonly billing_lines: number;
  readonly publishing_hash: string;
}

/** Selects days of a ledger whose swap began but was not recorded as finished, ascending. */
export function interruptedPublishing(input: { ledger: Ledger; tenantName: string }): PgStatement {
  return {
    query: `
SELECT to_char(tracking_date, 'YYYY-MM-DD') AS day, billing_lines, publishing_hash FROM ${input.ledger.state}
WHERE tenant_name = $1 AND publishing_hash IS NOT NULL ORDER BY tracking_date`,
    params: [input.tenantName],
  };
}

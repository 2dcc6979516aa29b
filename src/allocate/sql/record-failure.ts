import type { Ledger } from "../../domain/ledger.js";
import type { PgStatement } from "../../postgres/statement.js";

/** Counts a failed attempt of the days, and stores the reason. */
export function recordFailure(input: {
  ledger: Ledger;
  tenantName: string;
  days: readonly string[];
  reason: string;
}): PgStatement {
  const { state, attempts: column } = input.ledger;
  return {
    query: `
UPDATE ${state} SET ${column} = ${column} + 1, last_error = $3
WHERE tenant_name = $1 AND tracking_date = ANY($2::date[])`,
    params: [input.tenantName, input.days, input.reason],
  };
}

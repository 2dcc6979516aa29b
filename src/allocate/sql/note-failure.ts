import type { QueryConfig } from "pg";
import type { Ledger } from "../ledger.js";

/** Counts a failed attempt of days, and keeps the reason. In: ledger, tenant, days, what failed, reason. */
export function noteFailure(input: {
  ledger: Ledger;
  tenantName: string;
  days: readonly string[];
  failed: keyof Ledger["attempts"];
  reason: string;
}): QueryConfig {
  const { state, attempts } = input.ledger;
  const column = attempts[input.failed];
  return {
    text: `
UPDATE ${state} SET ${column} = ${column} + 1, last_error = $3
WHERE tenant_name = $1 AND tracking_date = ANY($2::date[])`,
    values: [input.tenantName, input.days, input.reason],
  };
}

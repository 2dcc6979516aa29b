import type { QueryConfig } from "pg";
import type { Ledger } from "../../store/ledger.js";

/** Counts a failed attempt of days, and keeps the reason. In: ledger, tenant, days, reason. */
export function noteFailure(input: {
  ledger: Ledger;
  tenantName: string;
  days: readonly string[];
  reason: string;
}): QueryConfig {
  const { state, attempts: column } = input.ledger;
  return {
    text: `
UPDATE ${state} SET ${column} = ${column} + 1, last_error = $3
WHERE tenant_name = $1 AND tracking_date = ANY($2::date[])`,
    values: [input.tenantName, input.days, input.reason],
  };
}

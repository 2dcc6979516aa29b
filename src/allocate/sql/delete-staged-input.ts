import type { Ledger } from "../../domain/ledger.js";
import type { Statement } from "../../postgres/statement.js";

/**
 * Records that nothing is staged for the days any more; the next gathering stages them again. Updates nothing if
 * another run has the lease.
 */
export function forgetStagedInput(input: {
  ledger: Ledger;
  tenantName: string;
  epoch: number;
  days: readonly string[];
}): Statement {
  return {
    query: `
UPDATE ${input.ledger.state} SET staged_hash = NULL
WHERE tenant_name = $1 AND tracking_date = ANY($3::date[])
  AND EXISTS (SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2)`,
    params: [input.tenantName, input.epoch, input.days],
  };
}

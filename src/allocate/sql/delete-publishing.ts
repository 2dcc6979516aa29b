import type { Ledger } from "../../domain/ledger.js";
import type { Statement } from "../../postgres/statement.js";

/**
 * Withdraws the intent to publish days of a ledger whose staged rows are missing, and clears the hash of their
 * published input, so that the next gathering calculates them again. Updates nothing if another run has the lease.
 */
export function forgetPublishing(input: {
  ledger: Ledger;
  tenantName: string;
  epoch: number;
  days: readonly string[];
}): Statement {
  return {
    query: `
UPDATE ${input.ledger.state} SET publishing_hash = NULL, staged_hash = NULL, published_hash = NULL
WHERE tenant_name = $1 AND tracking_date = ANY($3::date[])
  AND EXISTS (SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2)`,
    params: [input.tenantName, input.epoch, input.days],
  };
}

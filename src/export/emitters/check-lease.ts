import { LeaseLostError } from "../../common/lease-lost.js";
import { type PgStatement, runStatement } from "../../postgres/statement.js";
import type { Emission } from "./emission.js";

/**
 * Throws `LeaseLostError` if the lease is lost. A delayed worker may have lost its tenant to another one, which may
 * have written a newer file.
 */
export async function checkLease({ postgres, tenantName, epoch }: Emission): Promise<void> {
  const lease = await runStatement(postgres, holdsLease({ tenantName, epoch }));
  if (lease.rowCount === 0) throw new LeaseLostError(epoch);
}

/** Returns one row while the tenant's lease with this epoch is valid, by the database's clock. */
function holdsLease(input: { tenantName: string; epoch: number }): PgStatement {
  return {
    query: "SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now()",
    params: [input.tenantName, input.epoch],
  };
}

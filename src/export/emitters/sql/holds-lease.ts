import type { PgStatement } from "../../../postgres/statement.js";

/** Returns one row while the tenant's lease with this epoch is valid, by the database's clock. */
export function holdsLease(input: { tenantName: string; epoch: number }): PgStatement {
  return {
    query: "SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now()",
    params: [input.tenantName, input.epoch],
  };
}

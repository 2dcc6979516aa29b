import type { Statement } from "../../store/postgres/statement.js";

/** One row while the lease is ours by the database's clock. In: tenant, epoch. */
export function holdsLease(input: { tenantName: string; epoch: number }): Statement {
  return {
    query: "SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now()",
    params: [input.tenantName, input.epoch],
  };
}

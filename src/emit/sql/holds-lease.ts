import type { QueryConfig } from "pg";

/** One row while the lease is ours by the database's clock. In: tenant, epoch. */
export function holdsLease(input: { tenantName: string; epoch: number }): QueryConfig {
  return {
    text: "SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now()",
    values: [input.tenantName, input.epoch],
  };
}

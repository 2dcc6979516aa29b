import type { PgStatement } from "../../../postgres/statement.js";

/** Returns a row if the last gathering merged what this statement selects. In: tenant, digest of the statement. */
export function areMerged(tenantName: string, digest: string): PgStatement {
  return {
    query: "SELECT FROM tenants WHERE tenant_name = $1 AND merged_resources = $2",
    params: [tenantName, digest],
  };
}

/** In: tenant, digest of the statement whose rows were merged; null if some of them could not be stored. */
export function recordMerged(tenantName: string, digest: string | null): PgStatement {
  return {
    query: "UPDATE tenants SET merged_resources = $2 WHERE tenant_name = $1",
    params: [tenantName, digest],
  };
}

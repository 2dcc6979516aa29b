import type { PgStatement } from "../../postgres/statement.js";

export interface OtherClocks {
  readonly postgres: Date;
  /** The latest time that a run of the tenant has used as the current time; null before its first run. */
  readonly run_clock: Date | null;
}

export function otherClocks(tenantName: string): PgStatement {
  return {
    query: "SELECT now() AS postgres, run_clock FROM tenants WHERE tenant_name = $1",
    params: [tenantName],
  };
}

/** Records the time of a run. A clock that was set back does not lower the latest time. */
export function recordClock({ tenantName, clock }: { tenantName: string; clock: Date }): PgStatement {
  return {
    query: "UPDATE tenants SET run_clock = greatest(run_clock, $2) WHERE tenant_name = $1",
    params: [tenantName, clock],
  };
}

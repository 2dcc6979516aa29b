import type { Statement } from "../../store/postgres/statement.js";

export interface OtherClocks {
  readonly postgres: Date;
  /** The latest time that a run of the tenant has taken for now; null before its first. */
  readonly run_clock: Date | null;
}

export function otherClocks(tenantName: string): Statement {
  return {
    query: "SELECT now() AS postgres, run_clock FROM tenants WHERE tenant_name = $1",
    params: [tenantName],
  };
}

/** A clock that is set back leaves the latest time as it is. */
export function noteClock({ tenantName, clock }: { tenantName: string; clock: Date }): Statement {
  return {
    query: "UPDATE tenants SET run_clock = greatest(run_clock, $2) WHERE tenant_name = $1",
    params: [tenantName, clock],
  };
}

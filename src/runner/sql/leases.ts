import type { PgStatement } from "../../postgres/statement.js";

/** Leases, the locks on tenants. They use the database's clock only, so the clocks of workers do not matter. */

/** The lifetime of a lease without a heartbeat, and the interval of heartbeats. */
export interface LeaseTiming {
  readonly leaseSeconds: number;
  readonly heartbeatSeconds: number;
}

export const usualLease: LeaseTiming = { leaseSeconds: 60, heartbeatSeconds: 20 };

/** Takes a tenant's lease if it is free. In: tenant, holder, seconds. Out: the new epoch, or no row. */
export function takeLease(input: { tenantName: string; holder: string; seconds: number }): PgStatement {
  return {
    query: `
INSERT INTO leases (tenant_name, holder, epoch, expires_at)
VALUES ($1, $2, 1, now() + make_interval(secs => $3))
ON CONFLICT (tenant_name) DO UPDATE
SET holder = excluded.holder, epoch = leases.epoch + 1, expires_at = excluded.expires_at
WHERE leases.expires_at <= now()
RETURNING epoch`,
    params: [input.tenantName, input.holder, input.seconds],
  };
}

/** Prolongs a lease that we still hold. Updates no row otherwise. */
export function prolongLease(input: { tenantName: string; epoch: number; seconds: number }): PgStatement {
  return {
    query: `
UPDATE leases SET expires_at = now() + make_interval(secs => $3)
WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now()`,
    params: [input.tenantName, input.epoch, input.seconds],
  };
}

/** Raises the epoch of a lease that we hold, and of its run. Updates no row if we no longer hold it. */
export function raiseEpoch(input: {
  tenantName: string;
  epoch: number;
  raised: number;
  runId: string;
}): PgStatement {
  return {
    query: `
WITH raised AS (
  UPDATE leases SET epoch = $3 WHERE tenant_name = $1 AND epoch = $2 AND expires_at > now() RETURNING epoch
)
UPDATE runs SET epoch = $3 WHERE run_id = $4 AND EXISTS (SELECT FROM raised)`,
    params: [input.tenantName, input.epoch, input.raised, input.runId],
  };
}

/** Releases a lease. The row stays, because the epoch must never start over. */
export function releaseLease(input: { tenantName: string; epoch: number }): PgStatement {
  return {
    query: "UPDATE leases SET expires_at = now() WHERE tenant_name = $1 AND epoch = $2",
    params: [input.tenantName, input.epoch],
  };
}

/** Ends all leases. Only for the start of an embedded Postgres, which no other process can be using. */
export function expireLeases(): PgStatement {
  return { query: "UPDATE leases SET expires_at = now() WHERE expires_at > now()", params: [] };
}

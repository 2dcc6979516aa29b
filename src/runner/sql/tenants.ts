import type { Statement } from "../../store/postgres/statement.js";

/** What a run needs to know of its tenant's past. */
export interface TenantState {
  readonly suspension_reason: string | null;
  /** Seconds since the last good gather began, null when there was none. */
  readonly seconds_since_gather: number | null;
}

/** Makes sure that a tenant has its row. In: name, id, ecosystem as configured now. */
export function registerTenant(input: {
  tenantName: string;
  tenantId: string;
  ecosystem: string;
}): Statement {
  return {
    query: `
INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ($1, $2, $3)
ON CONFLICT (tenant_name) DO UPDATE SET tenant_id = excluded.tenant_id, ecosystem = excluded.ecosystem
WHERE (tenants.tenant_id, tenants.ecosystem) IS DISTINCT FROM (excluded.tenant_id, excluded.ecosystem)`,
    params: [input.tenantName, input.tenantId, input.ecosystem],
  };
}

export function tenantState(tenantName: string): Statement {
  return {
    query: `
SELECT suspension_reason, extract(epoch FROM now() - last_gather_at)::float8 AS seconds_since_gather
FROM tenants WHERE tenant_name = $1`,
    params: [tenantName],
  };
}

/** Ends suspensions: a restart of the worker is how an operator says that the cause is mended. */
export function liftSuspensions(tenantNames: readonly string[]): Statement {
  return {
    query: `
UPDATE tenants SET suspended_at = NULL, suspension_reason = NULL, gather_failures = 0
WHERE tenant_name = ANY($1) AND (suspended_at IS NOT NULL OR gather_failures > 0)`,
    params: [tenantNames],
  };
}

/** Notes a good gather. In: tenant, how many seconds ago it began. */
export function noteGather(input: { tenantName: string; secondsAgo: number }): Statement {
  return {
    query: `
UPDATE tenants SET last_gather_at = now() - make_interval(secs => $2), gather_failures = 0
WHERE tenant_name = $1`,
    params: [input.tenantName, input.secondsAgo],
  };
}

/** The next run gathers, whatever its gap. In: tenant. */
export function forgetGather(tenantName: string): Statement {
  return { query: "UPDATE tenants SET last_gather_at = NULL WHERE tenant_name = $1", params: [tenantName] };
}

/**
 * Counts a failed gather, and suspends the tenant when it was one too many. In: tenant, threshold, cause. Out: failures so
 * far, and whether the tenant is suspended now.
 */
export function noteGatherFailure(input: {
  tenantName: string;
  threshold: number;
  cause: string;
}): Statement {
  return {
    query: `
UPDATE tenants SET gather_failures = gather_failures + 1,
  suspended_at = CASE WHEN gather_failures + 1 >= $2 THEN now() END,
  suspension_reason = CASE WHEN gather_failures + 1 >= $2
    THEN format('%s consecutive gather failures, the last one: %s', gather_failures + 1, $3::text) END
WHERE tenant_name = $1
RETURNING gather_failures, suspended_at IS NOT NULL AS suspended`,
    params: [input.tenantName, input.threshold, input.cause],
  };
}

/** Which of these tenants are suspended. */
export function suspendedTenants(tenantNames: readonly string[]): Statement {
  return {
    query: "SELECT tenant_name FROM tenants WHERE tenant_name = ANY($1) AND suspended_at IS NOT NULL",
    params: [tenantNames],
  };
}

import type { PgStatement } from "../../postgres/statement.js";

export interface TenantState {
  /** Null if the tenant is not suspended. */
  readonly suspension_reason: string | null;
  readonly has_assignments: boolean;
}

/** The state that decides whether a run gathers. */
export interface GatherState {
  /** Seconds since the last successful gather began; null if there was none. */
  readonly seconds_since_gather: number | null;
  /** True if the last gather had other settings. */
  readonly settings_changed: boolean;
  /** True if the last run failed and its gathered data is not staged for calculation. */
  readonly last_run_failed: boolean;
}

/** Creates or updates the row of a tenant. In: name, id, ecosystem as configured now. */
export function registerTenant(input: {
  tenantName: string;
  tenantId: string;
  ecosystem: string;
}): PgStatement {
  return {
    query: `
INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ($1, $2, $3)
ON CONFLICT (tenant_name) DO UPDATE SET tenant_id = excluded.tenant_id, ecosystem = excluded.ecosystem
WHERE (tenants.tenant_id, tenants.ecosystem) IS DISTINCT FROM (excluded.tenant_id, excluded.ecosystem)`,
    params: [input.tenantName, input.tenantId, input.ecosystem],
  };
}

/** Returns what a run has to know before it begins. In: tenant. */
export function tenantState(tenantName: string): PgStatement {
  return {
    query: `
SELECT suspension_reason, EXISTS (SELECT FROM assignments WHERE assignments.tenant_name = $1) AS has_assignments
FROM tenants WHERE tenant_name = $1`,
    params: [tenantName],
  };
}

/**
 * Returns the gather state. After a successful gather, a run that was interrupted by its store has staged days, which
 * the next run calculates. In: tenant, digest of its settings.
 */
export function gatherState(tenantName: string, settings: string): PgStatement {
  return {
    query: `
SELECT extract(epoch FROM now() - last_gather_at)::float8 AS seconds_since_gather,
  coalesce(gathered_settings != $2, false) AS settings_changed,
  coalesce(last.status = 'failed' AND (runs_cut_off = 0 OR last.started_at > last_gather_at), false) AS last_run_failed
FROM tenants
LEFT JOIN LATERAL (
  SELECT status, started_at FROM runs
  WHERE runs.tenant_name = tenants.tenant_name AND ended_at IS NOT NULL ORDER BY started_at DESC LIMIT 1
) AS last ON true
WHERE tenants.tenant_name = $1`,
    params: [tenantName, settings],
  };
}

/** Ends suspensions. By restarting the worker, an operator confirms that the cause is fixed. */
export function liftSuspensions(tenantNames: readonly string[]): PgStatement {
  return {
    query: `
UPDATE tenants SET suspended_at = NULL, suspension_reason = NULL, gather_failures = 0
WHERE tenant_name = ANY($1) AND (suspended_at IS NOT NULL OR gather_failures > 0)`,
    params: [tenantNames],
  };
}

/** Records a successful gather. In: tenant, how many seconds ago it began, digest of its settings. */
export function recordGather(input: {
  tenantName: string;
  secondsAgo: number;
  settings: string;
}): PgStatement {
  return {
    query: `
UPDATE tenants SET last_gather_at = now() - make_interval(secs => $2), gather_failures = 0, gathered_settings = $3
WHERE tenant_name = $1`,
    params: [input.tenantName, input.secondsAgo, input.settings],
  };
}

/** Makes the next run gather, regardless of the minimum gap. In: tenant. */
export function resetGather(tenantName: string): PgStatement {
  return { query: "UPDATE tenants SET last_gather_at = NULL WHERE tenant_name = $1", params: [tenantName] };
}

/**
 * Counts a failed gather, and suspends the tenant at the threshold. In: tenant, threshold, cause. Out: number of
 * failures, and whether the tenant is suspended now.
 */
export function recordGatherFailure(input: {
  tenantName: string;
  threshold: number;
  cause: string;
}): PgStatement {
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

/** Returns those of the tenants that are suspended. */
export function suspendedTenants(tenantNames: readonly string[]): PgStatement {
  return {
    query: "SELECT tenant_name FROM tenants WHERE tenant_name = ANY($1) AND suspended_at IS NOT NULL",
    params: [tenantNames],
  };
}

/** Returns one row if all files of the tenant's store are due to be read, which is once a day. In: tenant. */
export function filesCheckIsDue(tenantName: string): PgStatement {
  return {
    query: `
SELECT FROM tenants
WHERE tenant_name = $1 AND coalesce(files_checked_at < now() - interval '1 day', true)`,
    params: [tenantName],
  };
}

/** Records that all files were read. If some are damaged, the next run reads them again. */
export function recordFilesCheck(input: { tenantName: string; areGood: boolean }): PgStatement {
  return {
    query: "UPDATE tenants SET files_checked_at = CASE WHEN $2 THEN now() END WHERE tenant_name = $1",
    params: [input.tenantName, input.areGood],
  };
}

import type { Statement } from "../../store/postgres/statement.js";

/** When a tenant is due, as all workers see it. */
export interface DueTenant {
  readonly tenant_name: string;
  /** Seconds; 0 or less: now. */
  readonly due_in: number;
  /** Its last run did not end by itself: a store went away, or its worker did. */
  readonly cut_off: boolean;
  readonly suspended: boolean;
}

/** The first pause before a run that was cut off is repeated. It doubles each time in a row, up to the interval. */
const FIRST_PAUSE_SECONDS = 5;

/**
 * Tenants, the one that has waited longest since its last run began first. One is due an interval after that, and at once when no run has
 * begun since the worker has. While somebody holds its lease it is not due: then it is when the lease ends, in case its holder is dead.
 * In: names, the interval in seconds, when the worker began.
 */
export function dueTenants(input: {
  tenantNames: readonly string[];
  intervalSeconds: number;
  since: Date;
}): Statement {
  return {
    query: `
SELECT name AS tenant_name, coalesce(suspended_at IS NOT NULL, false) AS suspended,
  coalesce(last.started_at IS NOT NULL AND (last.ended_at IS NULL OR runs_cut_off > 0), false) AS cut_off,
  extract(epoch FROM greatest(leases.expires_at, CASE
    WHEN last.started_at IS NULL OR last.ended_at IS NULL OR last.started_at < $3 THEN now()
    WHEN runs_cut_off > 0 THEN last.ended_at + make_interval(secs => least($2, $4 * 2 ^ least(runs_cut_off - 1, 20)))
    ELSE last.started_at + make_interval(secs => $2)
  END) - now())::float8 AS due_in
FROM unnest($1::text[]) AS name
LEFT JOIN tenants ON tenants.tenant_name = name
LEFT JOIN leases ON leases.tenant_name = name
LEFT JOIN LATERAL (
  SELECT started_at, ended_at FROM runs WHERE runs.tenant_name = name ORDER BY started_at DESC LIMIT 1
) AS last ON true
ORDER BY last.started_at NULLS FIRST, name`,
    params: [input.tenantNames, input.intervalSeconds, input.since, FIRST_PAUSE_SECONDS],
  };
}

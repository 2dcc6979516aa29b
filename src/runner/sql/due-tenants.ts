import type { PgStatement } from "../../postgres/statement.js";

/** The due time of a tenant, the same for all workers. */
export interface DueTenant {
  readonly tenant_name: string;
  /** Seconds until the tenant is due; 0 or less means now. */
  readonly due_in: number;
  /** The last run was interrupted: a store was lost, or its worker. */
  readonly cut_off: boolean;
  /** Usage was uploaded by the API after the last run began, for days that a run gathers. */
  readonly delivered: boolean;
  readonly suspended: boolean;
}

/**
 * The first pause before an interrupted run is repeated. It doubles with each interruption in a row, up to the
 * interval.
 */
const FIRST_PAUSE_SECONDS = 5;

/**
 * Returns tenants, the one whose last run began longest ago first. A tenant is due an interval after that, and at once
 * if no run has begun since the worker started, or usage was uploaded since. While its lease is held, it is due when the
 * lease ends, in case the holder is dead. In: names, the interval in seconds, when the worker began.
 */
export function dueTenants(input: {
  tenantNames: readonly string[];
  intervalSeconds: number;
  since: Date;
}): PgStatement {
  return {
    query: `
SELECT name AS tenant_name, coalesce(suspended_at IS NOT NULL, false) AS suspended,
  coalesce(last.started_at IS NOT NULL AND (last.ended_at IS NULL OR runs_cut_off > 0), false) AS cut_off,
  coalesce(uploads.newest > last.started_at, false) AS delivered,
  extract(epoch FROM greatest(leases.expires_at, CASE
    WHEN last.started_at IS NULL OR last.ended_at IS NULL OR last.started_at < $3 THEN now()
    WHEN runs_cut_off > 0 THEN last.ended_at + make_interval(secs => least($2, $4 * 2 ^ least(runs_cut_off - 1, 20)))
    WHEN uploads.newest > last.started_at THEN now()
    ELSE last.started_at + make_interval(secs => $2)
  END) - now())::float8 AS due_in
FROM unnest($1::text[]) AS name
LEFT JOIN tenants ON tenants.tenant_name = name
LEFT JOIN leases ON leases.tenant_name = name
LEFT JOIN LATERAL (
  SELECT started_at, ended_at FROM runs WHERE runs.tenant_name = name ORDER BY started_at DESC LIMIT 1
) AS last ON true
LEFT JOIN LATERAL (
  SELECT max(ended_at) AS newest FROM usage_uploads
  WHERE usage_uploads.tenant_name = name AND origin = 'api' AND state = 'stored' AND days_to_recalculate <> '[]'
) AS uploads ON true
ORDER BY last.started_at NULLS FIRST, name`,
    params: [input.tenantNames, input.intervalSeconds, input.since, FIRST_PAUSE_SECONDS],
  };
}

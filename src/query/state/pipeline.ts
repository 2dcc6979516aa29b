/**
 * The current and past state of tenants' pipelines. Pipeline status and readiness share this read, so that they always
 * agree, in every mode and whichever process runs.
 *
 * A run is in progress while its record says so and the lease with which it began has not expired, by the database's
 * clock. A run that lost its lease without closing its record belongs to a process that died, and counts as failed.
 */
import type { Pool } from "pg";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";

export const pipelineStages = ["gathering", "calculating", "publishing", "emitting"] as const;
export type PipelineStage = (typeof pipelineStages)[number];

export interface PipelineState {
  readonly tenant_name: string;
  /** At least one day has chargeback rows. */
  readonly has_data: boolean;
  readonly suspension_reason: string | null;
  /** True also while the run is queued. */
  readonly is_running: boolean;
  readonly is_queued: boolean;
  /** Stage and day of the run in progress. */
  readonly stage: PipelineStage | null;
  readonly stage_date: string | null;
  /** Status of the newest run; null if there is none. */
  readonly last_run_status: RunStatus | null;
  /** The newest run's end, or its start while it is in progress. */
  readonly last_run_at: Date | null;
  /** The newest run that has ended. */
  readonly finished: FinishedRun | null;
  /** End of the newest run that has not failed; null if there is none. */
  readonly last_success_at: Date | null;
  /** Days that the store has lost and that are not recalculated yet. */
  readonly days_lost: number;
}

export const runStatuses = ["queued", "running", "completed", "completed_with_errors", "failed"] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The format of Postgres' JSON. */
export interface FinishedRun {
  readonly status: Exclude<RunStatus, "queued" | "running">;
  readonly dates_gathered: number;
  readonly dates_calculated: number;
  readonly chargeback_rows_written: number;
  readonly errors: readonly RunErrorEntry[];
  readonly notes: readonly string[];
  /** ISO 8601 with offset. */
  readonly completed_at: string;
  readonly orphaned: boolean;
}

export type RunErrorEntry =
  | string
  | { readonly date?: string | null; readonly source?: string | null; readonly message: string };

/** The error of a run that did not close its record. */
export const INTERRUPTED = "The run was interrupted: its process ended before it did.";

/** Selects one row per name, in their order, including tenants that never ran. */
function pipelineStates(tenantNames: readonly string[]): PgStatement {
  return {
    query: `
WITH seen AS NOT MATERIALIZED (
  SELECT r.*,
    r.status IN ('queued', 'running') AND l.expires_at > now() AND coalesce(r.epoch = l.epoch, true) AS is_alive,
    CASE WHEN r.status IN ('queued', 'running') AND coalesce(r.epoch = l.epoch, true) THEN l.expires_at END AS lost_at
  FROM runs AS r
  LEFT JOIN leases AS l USING (tenant_name)
  WHERE r.tenant_name = ANY ($1::text[])
)
SELECT wanted.tenant_name,
  EXISTS (
    SELECT FROM tracking_dates AS d
    WHERE d.tenant_name = wanted.tenant_name AND d.chargeback_calculated AND d.chargeback_rows > 0
  ) AS has_data,
  CASE WHEN t.suspended_at IS NOT NULL THEN coalesce(t.suspension_reason, 'suspended') END AS suspension_reason,
  coalesce(newest.is_alive, false) AS is_running, coalesce(newest.is_alive AND newest.status = 'queued', false) AS is_queued,
  CASE WHEN newest.is_alive THEN newest.stage END AS stage,
  CASE WHEN newest.is_alive THEN newest.stage_date::text END AS stage_date,
  CASE WHEN newest.status IN ('queued', 'running') AND newest.is_alive IS NOT TRUE THEN 'failed' ELSE newest.status END AS last_run_status,
  CASE WHEN newest.is_alive THEN newest.started_at ELSE coalesce(newest.ended_at, newest.lost_at, newest.started_at) END AS last_run_at,
  finished.result AS finished,
  (SELECT max(ended_at) FROM runs WHERE runs.tenant_name = wanted.tenant_name AND status IN ('completed', 'completed_with_errors')) AS last_success_at,
  (SELECT count(*)::int FROM tracking_dates AS d WHERE d.tenant_name = wanted.tenant_name AND d.lost_at IS NOT NULL) AS days_lost
FROM unnest($1::text[]) WITH ORDINALITY AS wanted (tenant_name, position)
LEFT JOIN tenants AS t USING (tenant_name)
LEFT JOIN LATERAL (
  SELECT * FROM seen WHERE seen.tenant_name = wanted.tenant_name ORDER BY started_at DESC, run_id DESC LIMIT 1
) AS newest ON true
LEFT JOIN LATERAL (
  SELECT json_build_object(
    'dates_gathered', dates_gathered, 'dates_calculated', dates_calculated, 'chargeback_rows_written', chargeback_rows_written,
    'status', CASE WHEN status IN ('queued', 'running') THEN 'failed' ELSE status END, 'errors', errors, 'notes', notes,
    'completed_at', coalesce(ended_at, lost_at, started_at), 'orphaned', status IN ('queued', 'running')) AS result
  FROM seen WHERE seen.tenant_name = wanted.tenant_name AND is_alive IS NOT TRUE ORDER BY started_at DESC, run_id DESC LIMIT 1
) AS finished ON true
ORDER BY wanted.position`,
    params: [tenantNames],
  };
}

export function readPipelineStates(
  pool: Pool,
  tenantNames: readonly string[],
  signal?: AbortSignal,
): Promise<PipelineState[]> {
  return readPostgres<PipelineState>(pool, pipelineStates(tenantNames), signal);
}

/** Returns one line per error, prefixed with the day or source that it concerns. */
export function runErrors({ errors, orphaned }: FinishedRun): string[] {
  const lines = errors.map((error) => {
    if (typeof error === "string") return error;
    const where = error.date ?? error.source;
    return where ? `${where}: ${error.message}` : error.message;
  });
  return orphaned ? [...lines, INTERRUPTED] : lines;
}

import type { PgStatement } from "../../postgres/statement.js";

export type RunTrigger = "schedule" | "api" | "cli";

/** An error of a run, about a day or a source. */
export interface RunError {
  readonly date: string | null;
  readonly source: "gather" | "calculate" | "emit" | "store" | "run";
  readonly message: string;
}

export interface RunResult {
  /**
   * `failed`: the run ended early, or no day succeeded. `completed_with_errors`: some days or sources failed, others
   * did not.
   */
  readonly status: "completed" | "completed_with_errors" | "failed";
  readonly dates_gathered: number;
  readonly dates_pending: number;
  readonly dates_calculated: number;
  readonly chargeback_rows_written: number;
  readonly errors: readonly RunError[];
  /** Notes that are not errors, as sentences. */
  readonly notes: readonly string[];
}

/** Opens the record of a run. A queued run already has its lease, and waits for a free slot. */
export function beginRun(input: {
  runId: string;
  tenantName: string;
  trigger: RunTrigger;
  epoch: number;
  status: "queued" | "running";
}): PgStatement {
  return {
    query: "INSERT INTO runs (run_id, tenant_name, trigger, epoch, status) VALUES ($1, $2, $3, $4, $5)",
    params: [input.runId, input.tenantName, input.trigger, input.epoch, input.status],
  };
}

/** Marks a queued run as started. */
export function startQueuedRun(runId: string): PgStatement {
  return {
    query: "UPDATE runs SET status = 'running', started_at = now() WHERE run_id = $1 AND status = 'queued'",
    params: [runId],
  };
}

/**
 * Closes the records of runs that died. The holder of the lease knows that every open record is of a dead run. In:
 * tenant, the epoch of the lease held now.
 */
export function failOrphanedRuns(input: { tenantName: string; epoch: number }): PgStatement {
  const error: RunError = {
    date: null,
    source: "run",
    message: "the run was orphaned: its process ended before it did",
  };
  return {
    query: `
UPDATE runs SET status = 'failed', stage = NULL, stage_date = NULL, ended_at = now(), errors = errors || $3::jsonb
WHERE tenant_name = $1 AND status IN ('queued', 'running') AND (epoch IS NULL OR epoch < $2)`,
    params: [input.tenantName, input.epoch, JSON.stringify([error])],
  };
}

/** Records the stage and the progress of a run. */
export function recordStage(input: {
  runId: string;
  stage: string;
  day: string | null;
  progress: Pick<
    RunResult,
    "dates_gathered" | "dates_pending" | "dates_calculated" | "chargeback_rows_written"
  >;
}): PgStatement {
  const { runId, stage, day, progress } = input;
  return {
    query: `
UPDATE runs SET stage = $2, stage_date = $3, dates_gathered = $4, dates_pending = $5, dates_calculated = $6,
  chargeback_rows_written = $7
WHERE run_id = $1 AND status = 'running'`,
    params: [
      runId,
      stage,
      day,
      progress.dates_gathered,
      progress.dates_pending,
      progress.dates_calculated,
      progress.chargeback_rows_written,
    ],
  };
}

/** Closes the record of a run and counts consecutive interruptions, unless a later run has closed it. */
export function finishRun(input: { runId: string; result: RunResult; cutOff: boolean }): PgStatement {
  const { result } = input;
  return {
    query: `
WITH counted AS (
  UPDATE tenants SET runs_cut_off = CASE WHEN $9 THEN runs_cut_off + 1 ELSE 0 END
  FROM runs WHERE runs.tenant_name = tenants.tenant_name AND run_id = $1 AND status IN ('queued', 'running')
)
UPDATE runs SET status = $2, stage = NULL, stage_date = NULL, ended_at = now(), dates_gathered = $3, dates_pending = $4,
  dates_calculated = $5, chargeback_rows_written = $6, errors = $7::jsonb, notes = $8::jsonb
WHERE run_id = $1 AND status IN ('queued', 'running')`,
    params: [
      input.runId,
      result.status,
      result.dates_gathered,
      result.dates_pending,
      result.dates_calculated,
      result.chargeback_rows_written,
      JSON.stringify(result.errors),
      JSON.stringify(result.notes),
      input.cutOff,
    ],
  };
}

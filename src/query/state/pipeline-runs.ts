/** The history of a tenant's runs: what each run did, and how it ended. */
import type { Pool } from "pg";
import { bindings } from "../../postgres/bindings.js";
import { instantText } from "../../postgres/instant-text.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";
import { type CursorKey, cursorFingerprint, cursorOf, cutPage, encodeCursor } from "../page/cursor.js";
import type { PageRequest } from "../page/position.js";
import { INTERRUPTED, type PipelineStage, type RunErrorEntry, type RunStatus } from "./pipeline.js";

export const runTriggers = ["schedule", "api", "cli"] as const;

export interface PipelineRun {
  readonly run_id: string;
  readonly tenant_name: string;
  readonly trigger: (typeof runTriggers)[number];
  /** `failed` if the process of the run died. */
  readonly status: RunStatus;
  /** The current stage, and the day it works on; null if the run has ended. */
  readonly stage: PipelineStage | null;
  readonly stage_date: string | null;
  readonly started_at: string;
  /** Null while the run is in progress. */
  readonly ended_at: string | null;
  readonly dates_gathered: number;
  readonly dates_pending: number;
  readonly dates_calculated: number;
  readonly chargeback_rows_written: number;
  readonly errors: RunFault[];
  readonly notes: string[];
}

/** An error of a run, with the day or the part of the run that it concerns. */
export interface RunFault {
  readonly date: string | null;
  readonly source: string | null;
  readonly message: string;
}

/**
 * Runs with their lease. As in `pipeline.ts`, a run is in progress while its record says so and its lease has not
 * expired.
 */
const RUNS_WITH_LEASE = `
  SELECT run.*, CASE WHEN coalesce(run.epoch = lease.epoch, true) THEN lease.expires_at END AS lost_at,
    run.status IN ('queued', 'running') AND (lease.expires_at > now() AND coalesce(run.epoch = lease.epoch, true)) IS NOT TRUE AS orphaned
  FROM runs AS run
  LEFT JOIN leases AS lease USING (tenant_name)`;

const SHOWN = `run_id, tenant_name, trigger, CASE WHEN orphaned THEN 'failed' ELSE status END AS status,
  CASE WHEN NOT orphaned THEN stage END AS stage, CASE WHEN NOT orphaned THEN stage_date::text END AS stage_date,
  ${instantText("started_at")} AS started_at,
  ${instantText("CASE WHEN orphaned THEN coalesce(lost_at, started_at) ELSE ended_at END")} AS ended_at,
  dates_gathered, dates_pending, dates_calculated, chargeback_rows_written, errors, notes, orphaned`;

/**
 * Selects `{total, run}`, newest first: one row more than a page if more follow; for an empty page, one row without a
 * run.
 */
function pipelineRuns(
  tenantName: string,
  { page, page_size }: PageRequest,
  after: CursorKey | undefined,
): PgStatement {
  const { bind, params } = bindings();
  const tenant = bind(tenantName);
  const afterCursor = after
    ? `(run.started_at, run.run_id) < (${bind(after[0])}::timestamptz, ${bind(after[1])}::uuid)`
    : "true";
  return {
    query: `
SELECT total, CASE WHEN run_id IS NOT NULL THEN (SELECT row_to_json(shown) FROM (SELECT ${SHOWN}) AS shown) END AS run
FROM (SELECT count(*) AS total FROM runs WHERE tenant_name = ${tenant}) AS counted
LEFT JOIN (${RUNS_WITH_LEASE}
  WHERE run.tenant_name = ${tenant} AND ${afterCursor}
  ORDER BY run.started_at DESC, run.run_id DESC
  LIMIT ${bind(page_size + 1)} OFFSET ${bind((page - 1) * page_size)}
) AS page ON true
ORDER BY page.started_at DESC, run_id DESC`,
    params,
  };
}

/** Selects `{run}`: one row, or none. */
function pipelineRun(tenantName: string, by: "run_id" | "epoch", value: string | number): PgStatement {
  return {
    query: `
SELECT (SELECT row_to_json(shown) FROM (SELECT ${SHOWN}) AS shown) AS run
FROM (${RUNS_WITH_LEASE} WHERE run.tenant_name = $1 AND run.${by} = $2::${by === "epoch" ? "bigint" : "uuid"}) AS found`,
    params: [tenantName, value],
  };
}

interface StoredRun extends Omit<PipelineRun, "errors"> {
  readonly errors: readonly RunErrorEntry[];
  readonly orphaned: boolean;
}

/** Throws InvalidParameterError for an invalid cursor. */
export async function readPipelineRuns(
  pool: Pool,
  tenantName: string,
  input: PageRequest & { readonly cursor?: string | undefined },
  signal?: AbortSignal,
): Promise<{ items: PipelineRun[]; total: number; next_cursor: string | null }> {
  const fingerprint = cursorFingerprint({ tenantName });
  const after = cursorOf(input, "runs", fingerprint, ["instant", "uuid"]);
  const read = pipelineRuns(tenantName, input, after);
  const rows = await readPostgres<{ total: number; run: StoredRun | null }>(pool, read, signal);
  const found = rows.flatMap(({ run }) => (run === null ? [] : [runOf(run)]));
  const cursor = (run: PipelineRun) => encodeCursor("runs", fingerprint, [run.started_at, run.run_id]);
  return { ...cutPage(found, input.page_size, cursor), total: rows[0]?.total ?? 0 };
}

/** Returns undefined if the tenant has no such run, or if `runId` is not a UUID. */
export async function readPipelineRun(
  pool: Pool,
  tenantName: string,
  runId: string,
  signal?: AbortSignal,
): Promise<PipelineRun | undefined> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(runId)) return undefined;
  return await readOneRun(pool, pipelineRun(tenantName, "run_id", runId), signal);
}

/** Returns the run that had the lease of this epoch; undefined if its record is gone. */
export async function readRunOfEpoch(
  pool: Pool,
  tenantName: string,
  epoch: number,
  signal?: AbortSignal,
): Promise<PipelineRun | undefined> {
  return await readOneRun(pool, pipelineRun(tenantName, "epoch", epoch), signal);
}

async function readOneRun(
  pool: Pool,
  statement: PgStatement,
  signal?: AbortSignal,
): Promise<PipelineRun | undefined> {
  const [row] = await readPostgres<{ run: StoredRun }>(pool, statement, signal);
  return row && runOf(row.run);
}

function runOf({ orphaned, errors, ...run }: StoredRun): PipelineRun {
  const faults = errors.map((error) =>
    typeof error === "string"
      ? { date: null, source: null, message: error }
      : { date: error.date ?? null, source: error.source ?? null, message: error.message },
  );
  const interrupted = { date: null, source: "run", message: INTERRUPTED };
  return { ...run, errors: orphaned ? [...faults, interrupted] : faults };
}

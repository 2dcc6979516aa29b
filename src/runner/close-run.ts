import { shownInResult } from "../common/shown-in-result.js";
import type { Lease } from "./lease.js";
import type { RunProgress } from "./progress.js";
import type { BegunRun } from "./run-context.js";
import { finishRun, type RunResult } from "./sql/runs.js";
import { recordRunResult } from "./unrecorded-results.js";

/**
 * Closes the record of a run, releases its lease, and updates log and metrics. If Postgres is unreachable now, the
 * result is recorded before the next run.
 */
export async function closeRun(
  run: BegunRun,
  lease: Lease,
  result: RunResult,
  {
    conservationFailures,
    published,
    cutOff,
    seconds,
  }: Pick<RunProgress, "conservationFailures" | "published" | "cutOff"> & { readonly seconds: number },
): Promise<void> {
  const { tenant_name: tenantName } = run.tenant;
  try {
    await recordRunResult(run.stores.postgres, tenantName, finishRun({ runId: run.runId, result, cutOff }));
  } catch (error) {
    run.logger.error(
      { err: error, tenant: tenantName, run_id: run.runId },
      "the end of the run could not be recorded; it will be recorded before the next run begins",
    );
  } finally {
    // Stops the heartbeat even if Postgres is unreachable. Otherwise the tenant would never run again.
    await lease.release().catch((error: unknown) => {
      run.logger.error(
        { err: error, tenant: tenantName },
        "could not release the lease; it is released when Postgres is available again, or expires",
      );
    });
  }
  logEnd(run, result, seconds);
  run.observer.finished(tenantName, {
    status: result.status,
    rows: result.chargeback_rows_written,
    calculated: result.dates_calculated,
    failedDays: new Set(
      result.errors.flatMap(({ source, date }) => (source === "calculate" ? (date ?? []) : [])),
    ).size,
    conservationFailures,
    published,
    seconds,
  });
}

function logEnd(run: BegunRun, result: RunResult, seconds: number): void {
  const { tenant_name: tenantName } = run.tenant;
  const { dates_gathered: gathered, dates_pending: pending, dates_calculated: calculated } = result;
  const rows = result.chargeback_rows_written;
  const counts = { tenant: tenantName, run_id: run.runId, gathered, pending, calculated, rows, seconds };
  const details = { [shownInResult]: true, ...counts };
  for (const note of result.notes) run.logger.info(details, `Tenant ${tenantName}: ${note}`);
  if (result.status === "completed") {
    run.logger.info(
      details,
      `Tenant ${tenantName}: gathered=${gathered}, pending=${pending}, calculated=${calculated}, rows=${rows}`,
    );
    return;
  }
  const errors = result.errors.map((error) =>
    error.date === null ? error.message : `${error.date}: ${error.message}`,
  );
  run.logger.error(details, `Tenant ${tenantName} completed with errors: ${JSON.stringify(errors)}`);
}

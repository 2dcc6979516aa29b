import type { RunError, RunResult } from "./sql/runs.js";

/** What a run has done so far, filled by its stages. */
export interface RunProgress {
  dates_gathered: number;
  dates_pending: number;
  dates_calculated: number;
  chargeback_rows_written: number;
  conservationFailures: number;
  readonly errors: RunError[];
}

export function newProgress(): RunProgress {
  return {
    dates_gathered: 0,
    dates_pending: 0,
    dates_calculated: 0,
    chargeback_rows_written: 0,
    conservationFailures: 0,
    errors: [],
  };
}

/** A copy: stages that were left behind may still fill the progress. */
export function resultOf({ conservationFailures: _, errors, ...counts }: RunProgress): RunResult {
  return { status: errors.length === 0 ? "completed" : "failed", ...counts, errors: [...errors] };
}

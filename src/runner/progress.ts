import { withoutSecrets } from "../common/known-secrets.js";
import type { PublishedDayRows } from "./sql/published.js";
import type { RunError, RunResult } from "./sql/runs.js";

/** The progress of a run, updated by its stages. */
export interface RunProgress {
  dates_gathered: number;
  dates_pending: number;
  dates_calculated: number;
  chargeback_rows_written: number;
  conservationFailures: number;
  /** True if the run was interrupted. It is repeated as soon as the stores respond. */
  cutOff: boolean;
  /** The published days; undefined if the run ended early. */
  published?: PublishedDayRows;
  readonly errors: RunError[];
  /** Notes that are not errors, as sentences. */
  readonly notes: string[];
}

export function newProgress(): RunProgress {
  return {
    dates_gathered: 0,
    dates_pending: 0,
    dates_calculated: 0,
    chargeback_rows_written: 0,
    conservationFailures: 0,
    cutOff: false,
    errors: [],
    notes: [],
  };
}

/**
 * Returns a copy, because abandoned stages may still update the progress. Secrets are masked, because the result is
 * recorded, logged and shown.
 */
export function resultOf({
  conservationFailures: _,
  published: __,
  cutOff: ___,
  errors,
  notes,
  ...counts
}: RunProgress): RunResult {
  return {
    status: statusOf({ ...counts, errors }),
    ...counts,
    errors: errors.map((error) => ({ ...error, message: withoutSecrets(error.message) })),
    notes: notes.map(withoutSecrets),
  };
}

/**
 * A run with at least one good day has not failed, even if other days have. Errors of gathering a day do not make it a
 * bad day, because it is published all the same.
 */
function statusOf({
  errors,
  dates_gathered: gathered,
  dates_pending: pending,
  dates_calculated: calculated,
}: Omit<RunProgress, "notes" | "conservationFailures" | "cutOff" | "published">): RunResult["status"] {
  if (errors.length === 0) return "completed";
  const endedEarly = errors.some(({ source }) => source === "run");
  const days = errors.flatMap(({ source, date }) => (source === "calculate" ? (date ?? []) : []));
  const hasGoodDay = calculated > 0 || Math.max(gathered, pending) > new Set(days).size;
  return endedEarly || !hasGoodDay ? "failed" : "completed_with_errors";
}

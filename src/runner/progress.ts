import { withoutSecrets } from "../secrets/known-secrets.js";
import type { PublishedDays } from "./sql/published.js";
import type { RunError, RunResult } from "./sql/runs.js";

/** What a run has done so far, filled by its stages. */
export interface RunProgress {
  dates_gathered: number;
  dates_pending: number;
  dates_calculated: number;
  chargeback_rows_written: number;
  conservationFailures: number;
  /** The run did not end by itself, and is repeated as soon as the stores answer. */
  cutOff: boolean;
  /** What is published; undefined in a run that ended early. */
  published?: PublishedDays;
  readonly errors: RunError[];
  /** What is worth knowing and no error, as sentences. */
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

/** A copy, for stages that were left behind may still fill the progress, and without secrets: it is recorded, logged and shown. */
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
 * Days count: a run in which one came out well has not failed because another did not. What a gather says of a day concerns one that
 * is published all the same.
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

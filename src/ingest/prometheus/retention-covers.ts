/**
 * Whether a Prometheus still has all samples of a day: it has, when it has one from before the day. What it drops, it drops from the old
 * end.
 */
import { addDays } from "../../time/days.js";
import { UpstreamError } from "../../upstream-http/upstream-error.js";
import type { PrometheusSource } from "./source.js";

/** So many days before the first one are looked at: a metric that rests over a week is still found. */
const DAYS_BEFORE = 31;

/**
 * Of these days, those that are covered. None when the upstream does not say. It is asked for each midnight: of a gauge that is off then, nothing is
 * covered, and what is published stays. `expression`: for a step of a day.
 */
export async function coveredDays(
  source: PrometheusSource,
  expression: string,
  days: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const [first] = days;
  const last = days.at(-1);
  if (first === undefined || last === undefined) return [];
  const start = addDays(first, -DAYS_BEFORE);
  try {
    const earliest = await source.earliestDay({ expression, window: { start, end: last } }, signal);
    return earliest === undefined ? [] : days.filter((day) => earliest < day);
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    return [];
  }
}

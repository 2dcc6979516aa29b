/**
 * Checks whether a Prometheus still has all samples of a day. It has them if it has a sample from before the day,
 * because it drops the oldest samples first.
 */
import { addDays } from "../../common/days.js";
import { UpstreamError } from "../../upstream/http/upstream-error.js";
import type { PrometheusSource } from "./source.js";

/** Number of days before the first day that are searched, so that a metric that pauses for a week is still found. */
const DAYS_BEFORE = 31;

/**
 * Returns those of the days that are covered; none if the upstream cannot tell. Samples are looked up at each midnight,
 * so for a gauge that is off then, no day is covered and the published usage stays. `expression`: for a step of a day.
 */
export async function retainedDays(
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

/** Finds the first day that an upstream has a sample of a query, within the range of one request. */
import { addDays, dayOf, earliest, latest } from "../../common/days.js";
import type { PrometheusSource } from "../prometheus/source.js";

/** More than the longest lookback, in days. */
const REACH = 400;

/** The days that may have samples relevant to a window that ends at `end`: `[end − 400 days, tomorrow)`. */
export function reachOf(end: string) {
  const tomorrow = addDays(dayOf(new Date()), 1);
  return {
    start: addDays(end, -REACH),
    end: latest(end, earliest(tomorrow, addDays(end, REACH))),
  };
}

/** Undefined if the query has no sample at all. Throws `UpstreamError`. */
export async function firstSample(
  source: PrometheusSource,
  { expression, stepSeconds, end }: { expression: string; stepSeconds: number; end: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const day = await source.earliestDay({ expression, window: reachOf(end) }, signal);
  if (day !== undefined) return day;
  // An upstream that was started today has no whole day yet.
  const now = await source.labelsNow(expression, stepSeconds, signal);
  return now.length === 0 ? undefined : dayOf(new Date());
}

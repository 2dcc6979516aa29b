/** The first day that an upstream has a sample of a query, as far as it can be asked about at once. */
import { addDays, dayOf, earliest, latest } from "../../time/days.js";
import type { PrometheusSource } from "../prometheus/source.js";

/** More than the longest lookback, in days. */
const REACH = 400;

/** What may hold samples that concern a window which ends on that day: `[end − 400 days, tomorrow)`. */
export function reachOf(end: string) {
  const tomorrow = addDays(dayOf(new Date()), 1);
  return {
    start: addDays(end, -REACH),
    end: latest(end, earliest(tomorrow, addDays(end, REACH))),
  };
}

/** Undefined when the query has no sample at all. Throws `UpstreamError`. */
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

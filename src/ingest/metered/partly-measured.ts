/**
 * Days that were measured only in part, such as 6 of 24 hours: their sums would pass for a smaller use, and their mean for that of the whole
 * day. A short gap, as a restart leaves one, does no harm.
 */
import { DAY_SECONDS, dayOfSeconds } from "../../time/days.js";
import { coveredDays } from "../prometheus/retention-covers.js";
import type { PrometheusSource, RangeQuery } from "../prometheus/source.js";

/** In tenths of the day. */
const ENOUGH = 9;

/**
 * Day → reason. `steps`: starts of the steps that have a sample of anybody. The day that the upstream began on, or whose samples it is dropping, is
 * not among them: nothing will ever be added to it, and what was published of it stays. Throws `UpstreamError`.
 */
export async function partlyMeasured(
  source: PrometheusSource,
  { expression, stepSeconds }: Pick<RangeQuery, "expression" | "stepSeconds">,
  steps: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const sizes = new Map<string, number>();
  for (const start of steps) sizes.set(dayOfSeconds(start), (sizes.get(dayOfSeconds(start)) ?? 0) + 1);
  const expected = DAY_SECONDS / stepSeconds;
  const partly = [...sizes].filter(([, size]) => 10 * size < ENOUGH * expected);
  const [first] = [...sizes.keys()].sort();
  const isOldest =
    first !== undefined &&
    partly.some(([day]) => day === first) &&
    (await coveredDays(source, expression, [first], signal)).length === 0;
  const reasonOf = (size: number) => `only ${sizeText(size, stepSeconds)} were measured`;
  return new Map(
    partly.flatMap(([day, size]) => (isOldest && day === first ? [] : [[day, reasonOf(size)] as const])),
  );
}

/** `6 of 24 hours`, or `70 of 288 samples` with a step that is not an hour. */
function sizeText(size: number, stepSeconds: number): string {
  return `${size} of ${DAY_SECONDS / stepSeconds} ${stepSeconds === 3600 ? "hours" : "samples"}`;
}

/**
 * Finds days that were measured only in part, such as 6 of 24 hours. Their sums would look like less usage, and their
 * mean like that of the whole day. A short gap, as after a restart, is acceptable.
 */
import { DAY_SECONDS, dayOfSeconds } from "../../common/days.js";
import { retainedDays } from "../prometheus/retention-covers.js";
import type { PrometheusSource, RangeQuery } from "../prometheus/source.js";

/** Required part of a day, in tenths. */
const ENOUGH = 9;

export interface PartlyMeasured {
  /** Day → reason. The samples of these days do not count. */
  readonly gaps: ReadonlyMap<string, string>;
  /**
   * The day on which the upstream began, or whose samples it is dropping, if it is measured in part. No samples will be
   * added to it, so its samples count. `size`: the part of the day that they cover, such as `6 of 24 hours`.
   */
  readonly first: { readonly day: string; readonly size: string } | undefined;
}

/** `steps`: starts of the steps with a sample of any identity. Throws `UpstreamError`. */
export async function partlyMeasured(
  source: PrometheusSource,
  { expression, stepSeconds }: Pick<RangeQuery, "expression" | "stepSeconds">,
  steps: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<PartlyMeasured> {
  const sizes = new Map<string, number>();
  for (const start of steps) sizes.set(dayOfSeconds(start), (sizes.get(dayOfSeconds(start)) ?? 0) + 1);
  const expected = DAY_SECONDS / stepSeconds;
  const partly = [...sizes].filter(([, size]) => 10 * size < ENOUGH * expected);
  const [oldest] = [...sizes.keys()].sort();
  const candidate = partly.find(([day]) => day === oldest);
  const isFirst =
    candidate !== undefined && (await retainedDays(source, expression, [candidate[0]], signal)).length === 0;
  const gaps = partly.filter((each) => !isFirst || each !== candidate);
  return {
    gaps: new Map(gaps.map(([day, size]) => [day, `only ${sizeText(size, stepSeconds)} were measured`])),
    first: isFirst ? { day: candidate[0], size: sizeText(candidate[1], stepSeconds) } : undefined,
  };
}

/** `6 of 24 hours`, or `70 of 288 samples` with a step that is not an hour. */
function sizeText(size: number, stepSeconds: number): string {
  return `${size} of ${DAY_SECONDS / stepSeconds} ${stepSeconds === 3600 ? "hours" : "samples"}`;
}

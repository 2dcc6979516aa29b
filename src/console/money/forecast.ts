/** Forecasts the cost of a month from its days so far. It is an estimate, so its numbers are not exact decimals. */

/** A forecast from fewer days would be a guess. */
const MIN_DAYS = 3;
/** Four of five normally distributed sums are within this many standard deviations of the expected one. */
const DEVIATIONS = 1.2816;

/**
 * Returns the range in which four of five such months end, if the days that are left vary as those before did: their
 * mean may be wrong, and they scatter around it.
 */
export function forecastOf(costs: readonly number[], left: number): [low: number, high: number] | undefined {
  const count = costs.length;
  if (count < MIN_DAYS) return undefined;
  const soFar = costs.reduce((sum, cost) => sum + cost, 0);
  const mean = soFar / count;
  const variance = costs.reduce((sum, cost) => sum + (cost - mean) ** 2, 0) / (count - 1);
  const spread = DEVIATIONS * Math.sqrt(variance * (left + left ** 2 / count));
  const expected = soFar + mean * left;
  const low = expected - spread;
  return [costs.every((cost) => cost >= 0) ? Math.max(soFar, low) : low, expected + spread];
}

const estimate = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** An estimate with three digits: it is not more precise. */
export const shownEstimate = (value: number) => estimate.format(value).replace("-", "−");

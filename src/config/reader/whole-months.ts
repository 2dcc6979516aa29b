/** Anything that uses whole months needs all days of a month for as long as some of them are still gathered. */

export const LONGEST_MONTH = 31;

/**
 * Returns the problem with a tenant's settings for a feature that `is monthly`. Settings that could not be read are
 * missing.
 */
export function monthsProblem(
  isMonthly: string,
  { lookback_days: lookback, retention_days: retention }: { lookback_days?: number; retention_days?: number },
): string | undefined {
  if (lookback === undefined || retention === undefined) return undefined;
  const least = lookback + LONGEST_MONTH;
  if (retention >= least) return undefined;
  return `${isMonthly}, which needs retention_days of at least ${least} (lookback_days + ${LONGEST_MONTH})`;
}

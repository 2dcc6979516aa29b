/** What looks at whole months needs their days for as long as others of the month are gathered. */

export const LONGEST_MONTH = 31;

/** What is wrong with the settings of a tenant, as far as they could be read, for something that `is monthly`. */
export function monthsProblem(
  isMonthly: string,
  { lookback_days: lookback, retention_days: retention }: { lookback_days?: number; retention_days?: number },
): string | undefined {
  if (lookback === undefined || retention === undefined) return undefined;
  const least = lookback + LONGEST_MONTH;
  if (retention >= least) return undefined;
  return `${isMonthly}, which needs retention_days of at least ${least} (lookback_days + ${LONGEST_MONTH})`;
}

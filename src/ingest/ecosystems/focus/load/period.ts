/**
 * The billing period of a line. Together with the billing account it decides what a bill replaces; file names do not
 * matter.
 */

/**
 * SQL: year and month as a number such as 202610, or 0 if the line has no readable date. Lines without a period belong
 * to the month of their charge.
 */
export const PERIOD = "toUInt32(ifNull(toYYYYMM(ifNull(BillingPeriodStart, ChargePeriodStart)), 0))";

/** 202610 → `2026-10`, 0 → the empty text. */
export function periodText(period: number): string {
  return period === 0 ? "" : `${Math.floor(period / 100)}-${String(period % 100).padStart(2, "0")}`;
}

/** `2026-10` → 202610. */
export function periodNumber(period: string): number {
  return Number(period.replace("-", ""));
}

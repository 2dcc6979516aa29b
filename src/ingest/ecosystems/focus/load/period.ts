/** The billing period of a line: what replaces what is decided by it and by the billing account, and never by the name of a file. */

/** SQL: year and month as a number such as 202610, or 0 where the line has no readable date. Lines that do not say go by the month of their charge. */
export const PERIOD = "toUInt32(ifNull(toYYYYMM(ifNull(BillingPeriodStart, ChargePeriodStart)), 0))";

/** 202610 → `2026-10`, 0 → the empty text. */
export function periodText(period: number): string {
  return period === 0 ? "" : `${Math.floor(period / 100)}-${String(period % 100).padStart(2, "0")}`;
}

/** The other way round. */
export function periodNumber(period: string): number {
  return Number(period.replace("-", ""));
}

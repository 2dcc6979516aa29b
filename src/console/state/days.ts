/** Calendar of UTC days, written as `YYYY-MM-DD`. */

const DAY_MS = 86_400_000;

export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && shifted(text, 0) === text;
}

export function shifted(day: string, days: number): string {
  const at = Date.parse(`${day}T00:00:00Z`) + days * DAY_MS;
  return Number.isNaN(at) ? "" : new Date(at).toISOString().slice(0, 10);
}

export const today = () => new Date().toISOString().slice(0, 10);

/** Number of days from `first` to `last`, both included. */
export function daysBetween(first: string, last: string): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
}

export const firstOfMonth = (day: string) => `${day.slice(0, 7)}-01`;
export const lastOfMonth = (day: string) => shifted(firstOfMonth(shifted(firstOfMonth(day), 31)), -1);

/** `3 Nov 2026` or `3 Nov`. Always in English, like all texts of the console. */
export function shownDay(day: string, withYear = true): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    timeZone: "UTC",
    ...(withYear && { year: "numeric" }),
  });
  return format.format(new Date(`${day}T00:00:00Z`));
}

/** `3 Nov 2026, 14:00 UTC`. */
export const shownInstant = (instant: string) =>
  `${shownDay(instant.slice(0, 10))}, ${instant.slice(11, 16)} UTC`;

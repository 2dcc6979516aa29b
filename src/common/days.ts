/**
 * UTC days, of the server and of the console. A day is a text `YYYY-MM-DD` of the years 0000 to 9999, so that days
 * compare and sort like text. Days of other time zones are in `query/time/start-of-day.ts`.
 *
 * Every function throws `RangeError` for a text that is not a day, and for results outside of these years, so that an
 * invalid day is never passed on. `Date` is all that is needed, so that no library gets into the console.
 */

/** Whole days, from `start` to the day before `end`: `[start, end)`. */
export interface DayRange {
  readonly start: string;
  readonly end: string;
}

/** Instants in seconds since 1970: `[from, to)`. */
export interface InstantRange {
  readonly from: number;
  readonly to: number;
}

export const DAY_SECONDS = 86_400;
export const DAY_MS = 1000 * DAY_SECONDS;

/** `Date.parse` also accepts other shapes. */
const SHAPE = /^\d{4}-\d{2}-\d{2}$/;
const FIRST_MS = Date.parse("0000-01-01");
const END_MS = Date.parse("+010000-01-01");

/** True if the calendar has this day: 2024-02-29 exists, 2026-02-29 does not. */
export function isDay(text: string): boolean {
  return parsed(text) !== undefined;
}

/** Returns the day of an instant. */
export function dayOf(instant: Date): string {
  return dayAt(instant.getTime());
}

/** Returns the day of an instant in seconds since 1970. */
export function dayOfSeconds(seconds: number): string {
  return dayNames.get(seconds) ?? remember(dayNames, seconds, dayAt(seconds * 1000));
}

/** Cache size. The instants of a few hundred steps are converted again and again, for every usage sample. */
const MOST_CACHED = 20_000;
const times = new Map<number, string>();
const dayNames = new Map<number, string>();

function remember<Key, Value>(known: Map<Key, Value>, key: Key, value: Value): Value {
  if (known.size >= MOST_CACHED) known.clear();
  known.set(key, value);
  return value;
}

/** Formats whole seconds since 1970, such as `2026-01-01T05:00:00Z`. */
export function isoTime(seconds: number): string {
  return (
    times.get(seconds) ?? remember(times, seconds, `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`)
  );
}

/** Returns the first instant of a day. */
export function midnightOf(day: string): Date {
  const at = parsed(day);
  if (at === undefined) throw new RangeError(`not a day: ${day}`);
  return new Date(at);
}

/** Returns the first instant of a day in seconds since 1970. */
export function midnightSeconds(day: string): number {
  return midnightOf(day).getTime() / 1000;
}

/** `days` is a whole number; negative numbers go back. */
export function addDays(day: string, days: number): string {
  return dayAt(midnightOf(day).getTime() + days * DAY_MS);
}

/**
 * Returns the same day of another month, or the last day of a shorter month. `months` is a whole number; negative
 * numbers go back.
 */
export function addMonths(day: string, months: number): string {
  const at = midnightOf(firstOfMonth(day));
  at.setUTCMonth(at.getUTCMonth() + months);
  const first = dayOf(at);
  return earliest(`${first.slice(0, 8)}${day.slice(8)}`, lastOfMonth(first));
}

/** Returns the number of days from `from` to `to`, negative if `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return (midnightSeconds(to) - midnightSeconds(from)) / DAY_SECONDS;
}

/** Returns the days of `[start, end)`, ascending; none if `end` is not after `start`. */
export function daysOfWindow({ start, end }: DayRange): string[] {
  const first = midnightSeconds(start);
  return Array.from({ length: Math.max(0, daysBetween(start, end)) }, (_, index) =>
    dayOfSeconds(first + index * DAY_SECONDS),
  );
}

export function firstOfMonth(day: string): string {
  const at = midnightOf(day);
  at.setUTCDate(1);
  return dayOf(at);
}

export function lastOfMonth(day: string): string {
  const at = midnightOf(day);
  at.setUTCMonth(at.getUTCMonth() + 1, 0);
  return dayOf(at);
}

export function earliest(first: string, ...others: readonly string[]): string {
  return [first, ...others].sort().at(0) ?? first;
}

export function latest(first: string, ...others: readonly string[]): string {
  return [first, ...others].sort().at(-1) ?? first;
}

/** Returns milliseconds since 1970. */
function parsed(day: string): number | undefined {
  if (!SHAPE.test(day)) return undefined;
  const at = Date.parse(day);
  // `Date.parse` takes 2026-02-29 for 1 March.
  return Number.isNaN(at) || dayAt(at) !== day ? undefined : at;
}

function dayAt(ms: number): string {
  // Also refuses NaN.
  if (!(ms >= FIRST_MS && ms < END_MS)) throw new RangeError("not a day of the years 0000 to 9999");
  return new Date(ms).toISOString().slice(0, 10);
}

/** Describes ascending days: `2026-01-01`, or `3 days from 2026-01-01 to 2026-01-05`. */
export function daysInWords(days: readonly string[]): string {
  const [first] = days;
  return days.length === 1 ? `${first}` : `${days.length} days from ${first} to ${days.at(-1)}`;
}

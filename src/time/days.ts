/**
 * UTC days. A day is text, `YYYY-MM-DD`, of the years 0000 to 9999, so that days compare and sort as text does. Days of other time zones are
 * in `query/time/start-of-day.ts`.
 *
 * Every function throws `RangeError` for what is not a day and for what would lie outside those years: a wrong day is never passed on as
 * text that only looks like one.
 */
import { DateTime } from "luxon";

export const DAY_SECONDS = 86_400;
export const DAY_MS = 1000 * DAY_SECONDS;

const UTC = { zone: "utc" } as const;
/** The parser also takes weeks, days of a year, and dates without hyphens. */
const SHAPE = /^\d{4}-\d{2}-\d{2}$/;

/** Whether the calendar has this day: 2024-02-29, and not 2026-02-29. */
export function isDay(text: string): boolean {
  return parsed(text) !== undefined;
}

/** The day that an instant lies in. Of the clock: today. */
export function dayOf(instant: Date): string {
  return textOf(DateTime.fromJSDate(instant, UTC));
}

/** The day that an instant lies in, given in seconds since 1970. */
export function dayOfSeconds(seconds: number): string {
  return dayNames.get(seconds) ?? remember(dayNames, seconds, textOf(DateTime.fromSeconds(seconds, UTC)));
}

/** Days, and instants of a few hundred steps, are asked for again and again. */
const MOST_CACHED = 20_000;
const times = new Map<number, string>();
const dayNames = new Map<number, string>();
const days = new Map<string, DateTime>();

function remember<Key, Value>(known: Map<Key, Value>, key: Key, value: Value): Value {
  if (known.size >= MOST_CACHED) known.clear();
  known.set(key, value);
  return value;
}

/** An instant given in whole seconds since 1970, as `2026-01-01T05:00:00Z`. */
export function isoTime(seconds: number): string {
  return (
    times.get(seconds) ?? remember(times, seconds, `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`)
  );
}

/** The first instant of a day. */
export function midnightOf(day: string): Date {
  return read(day).toJSDate();
}

/** The first instant of a day, in seconds since 1970. */
export function midnightSeconds(day: string): number {
  return read(day).toSeconds();
}

/** `days`: a whole number, negative for days before. */
export function addDays(day: string, days: number): string {
  return textOf(read(day).plus({ days }));
}

/** The same day so many months later, or the last day of a shorter month. `months`: a whole number, negative for months before. */
export function addMonths(day: string, months: number): string {
  return textOf(read(day).plus({ months }));
}

/** How many days `to` is after `from`: negative when it is before. */
export function daysBetween(from: string, to: string): number {
  return (midnightSeconds(to) - midnightSeconds(from)) / DAY_SECONDS;
}

/** `[start, end)`, ascending; none when `end` is not after `start`. */
export function daysOfWindow({ start, end }: { readonly start: string; readonly end: string }): string[] {
  const first = midnightSeconds(start);
  return Array.from({ length: Math.max(0, daysBetween(start, end)) }, (_, index) =>
    dayOfSeconds(first + index * DAY_SECONDS),
  );
}

export function firstOfMonth(day: string): string {
  return textOf(read(day).startOf("month"));
}

export function lastOfMonth(day: string): string {
  return textOf(read(day).endOf("month"));
}

export function earliest(first: string, ...others: readonly string[]): string {
  return [first, ...others].sort().at(0) ?? first;
}

export function latest(first: string, ...others: readonly string[]): string {
  return [first, ...others].sort().at(-1) ?? first;
}

function read(day: string): DateTime {
  const at = parsed(day);
  if (at === undefined) throw new RangeError(`not a day: ${day}`);
  return at;
}

function parsed(day: string): DateTime | undefined {
  const known = days.get(day);
  if (known !== undefined) return known;
  if (!SHAPE.test(day)) return undefined;
  const at = DateTime.fromISO(day, UTC);
  return at.isValid ? remember(days, day, at) : undefined;
}

function textOf(at: DateTime): string {
  const day = at.toISODate();
  if (day === null || !SHAPE.test(day)) throw new RangeError("not a day of the years 0000 to 9999");
  return day;
}

/** Days that ascend, in words: `2026-01-01`, or `3 days from 2026-01-01 to 2026-01-05`. */
export function daysInWords(days: readonly string[]): string {
  const [first] = days;
  return days.length === 1 ? `${first}` : `${days.length} days from ${first} to ${days.at(-1)}`;
}

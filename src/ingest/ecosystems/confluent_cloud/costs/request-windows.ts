/**
 * How a window is cut into queries of the bill. The vendor takes at most a month at once, from at most a year back.
 *
 * Queries start where the calendar says, on the 1st of a month and every `days_per_query` after it, not where the window
 * happens to start: so the same days are asked for together tomorrow, when the window has moved on. What is left of a span at
 * the edge of the window is a shorter query.
 */
import type { DayWindow } from "../../../ecosystem.js";

export interface RequestWindow extends DayWindow {
  /** First day of the whole span, whether or not it is asked for: the same tomorrow. */
  readonly anchor: string;
}

/** In ascending order. Days of more than a year ago are left out: the vendor does not have them any more. */
export function requestWindows(window: DayWindow, daysPerQuery: number, today: string): RequestWindow[] {
  const start = later(window.start, oldestDay(today));
  const windows: RequestWindow[] = [];
  for (let day = start; day < window.end; ) {
    const month = `${day.slice(0, 7)}-01`;
    const spans = Math.floor((dayNumber(day) - dayNumber(month)) / daysPerQuery);
    const anchor = plusDays(month, spans * daysPerQuery);
    const end = [plusDays(anchor, daysPerQuery), nextMonth(month), window.end].reduce(earlier);
    windows.push({ start: day, end, anchor });
    day = end;
  }
  return windows;
}

/** The same date a year back, and a day of room for the midnight between asking and answering. */
export function oldestDay(today: string): string {
  const lastYear = `${String(Number(today.slice(0, 4)) - 1).padStart(4, "0")}${today.slice(4)}`;
  return plusDays(dayOf(Date.parse(`${lastYear.slice(0, 8)}01T00:00:00Z`)), Number(today.slice(8)));
}

const DAY_MS = 86_400_000;

function dayNumber(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / DAY_MS;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

export function plusDays(day: string, days: number): string {
  return dayOf((dayNumber(day) + days) * DAY_MS);
}

function nextMonth(firstOfMonth: string): string {
  return `${plusDays(firstOfMonth, 31).slice(0, 7)}-01`;
}

const later = (a: string, b: string) => (a > b ? a : b);
const earlier = (a: string, b: string) => (a < b ? a : b);

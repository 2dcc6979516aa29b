/**
 * Splits a window into queries of the bill. The vendor allows at most a month at once, from at most a year back.
 *
 * Queries start on fixed calendar days, the 1st of a month and every `days_per_query` after it, and not at the start of
 * the window. So the same days are requested together tomorrow, when the window has moved on. At the edge of the
 * window, a query is shorter.
 */
import {
  addDays,
  addMonths,
  type DayRange,
  daysBetween,
  earliest,
  firstOfMonth,
  latest,
} from "../../../../common/days.js";

export interface RequestWindow extends DayRange {
  /** First day of the whole span, requested or not. It is the same tomorrow. */
  readonly anchor: string;
}

/**
 * Returns queries in ascending order. Days of more than a year ago are left out, because the vendor no longer has them.
 */
export function requestWindows(window: DayRange, daysPerQuery: number, today: string): RequestWindow[] {
  const start = latest(window.start, oldestDay(today));
  const windows: RequestWindow[] = [];
  for (let day = start; day < window.end; ) {
    const month = firstOfMonth(day);
    const spans = Math.floor(daysBetween(month, day) / daysPerQuery);
    const anchor = addDays(month, spans * daysPerQuery);
    const end = earliest(addDays(anchor, daysPerQuery), addMonths(month, 1), window.end);
    windows.push({ start: day, end, anchor });
    day = end;
  }
  return windows;
}

/** The same date a year ago, plus a day in case midnight passes between request and response. */
function oldestDay(today: string): string {
  return addDays(addMonths(firstOfMonth(today), -12), Number(today.slice(8)));
}

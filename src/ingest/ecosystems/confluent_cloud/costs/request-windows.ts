/**
 * How a window is cut into queries of the bill. The vendor takes at most a month at once, from at most a year back.
 *
 * Queries start where the calendar says, on the 1st of a month and every `days_per_query` after it, not where the window
 * happens to start: so the same days are asked for together tomorrow, when the window has moved on. What is left of a span at
 * the edge of the window is a shorter query.
 */
import { addDays, addMonths, daysBetween, earliest, firstOfMonth, latest } from "../../../../time/days.js";
import type { DayWindow } from "../../../ecosystem.js";

export interface RequestWindow extends DayWindow {
  /** First day of the whole span, whether or not it is asked for: the same tomorrow. */
  readonly anchor: string;
}

/** In ascending order. Days of more than a year ago are left out: the vendor does not have them any more. */
export function requestWindows(window: DayWindow, daysPerQuery: number, today: string): RequestWindow[] {
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

/** The same date a year back, and a day of room for the midnight between asking and answering. */
function oldestDay(today: string): string {
  return addDays(addMonths(firstOfMonth(today), -12), Number(today.slice(8)));
}

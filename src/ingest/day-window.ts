/** The days of a window, one by one. */
import type { DayWindow } from "./ecosystem.js";

export function daysOfWindow({ start, end }: DayWindow): string[] {
  const days: string[] = [];
  const last = Date.parse(`${end}T00:00:00Z`);
  for (let at = Date.parse(`${start}T00:00:00Z`); at < last; at += 86_400_000) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}

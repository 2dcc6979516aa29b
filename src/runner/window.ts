import { DateTime } from "luxon";
import type { DayWindow, Gatherer } from "../ingest/ecosystem.js";

/** The days a run gathers: `[today − lookback_days, today − cutoff_days)`, whole UTC days. */
export function gatherWindow(today: string, lookbackDays: number, cutoffDays: number): DayWindow {
  const day = DateTime.fromISO(today, { zone: "utc" });
  return {
    start: day.minus({ days: lookbackDays }).toISODate() ?? today,
    end: day.minus({ days: cutoffDays }).toISODate() ?? today,
  };
}

/** Cuts a window into pieces as the gatherer wants them, newest first: what people look at is there first. */
export function cutWindow(
  window: DayWindow,
  { daysPerWindow, cutAtMonths = false }: Pick<Gatherer, "daysPerWindow" | "cutAtMonths">,
): DayWindow[] {
  const pieces: DayWindow[] = [];
  const start = DateTime.fromISO(window.start, { zone: "utc" });
  let end = DateTime.fromISO(window.end, { zone: "utc" });
  while (end > start) {
    const longest = end.minus({ days: daysPerWindow });
    const month = cutAtMonths ? end.minus({ days: 1 }).startOf("month") : longest;
    const from = DateTime.max(start, longest, month);
    pieces.push({ start: from.toISODate() ?? window.start, end: end.toISODate() ?? window.end });
    end = from;
  }
  return pieces;
}

/** Today's UTC date. */
export function utcToday(now: Date): string {
  return now.toISOString().slice(0, 10);
}

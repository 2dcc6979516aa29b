import { addDays, type DayRange, firstOfMonth, latest } from "../common/days.js";
import { FIRST_DAY, LAST_DAY } from "../domain/stored-days.js";
import type { Gatherer } from "../ingest/ecosystem.js";

/** Returns the days that a run gathers: `[today − lookback_days, today − cutoff_days)`, whole UTC days. */
export function gatherWindow(today: string, lookbackDays: number, cutoffDays: number): DayRange {
  return { start: addDays(today, -lookbackDays), end: addDays(today, -cutoffDays) };
}

/** Throws if the window has days that the stores cannot represent. */
export function refuseUnstorable({ start, end }: DayRange): void {
  const last = addDays(end, -1);
  if (start >= FIRST_DAY && last <= LAST_DAY) return;
  throw new Error(
    `the days to gather are ${start} to ${last}, and the stores hold those from ${FIRST_DAY} to ${LAST_DAY}: nothing was gathered or dropped. Is the clock right?`,
  );
}

/**
 * Splits a window into pieces of the gatherer's size, newest first, because users look at the newest days first. Pieces
 * are cut again at the days on which the configuration changes, the oldest part first, because costs of a month may be
 * weighed together with its earlier days.
 */
export function cutWindow(
  window: DayRange,
  { daysPerWindow, cutAtMonths = false }: Pick<Gatherer, "daysPerWindow" | "cutAtMonths">,
  changes: readonly string[] = [],
): DayRange[] {
  const pieces: DayRange[] = [];
  for (let { end } = window; end > window.start; ) {
    const longest = addDays(end, -daysPerWindow);
    const month = cutAtMonths ? firstOfMonth(addDays(end, -1)) : longest;
    const piece = { start: latest(window.start, longest, month), end };
    const cuts = changes.filter((day) => day > piece.start && day < piece.end).sort();
    const starts = [piece.start, ...cuts];
    pieces.push(...starts.map((start, index) => ({ start, end: starts[index + 1] ?? end })));
    end = piece.start;
  }
  return pieces;
}

/**
 * Finds where a calendar day begins in a zone: at its first midnight. Clocks that fall back onto midnight (the Azores
 * and Havana, each autumn) show it twice. If clocks skip midnight, the day begins when they have changed. A day that is
 * skipped entirely (Samoa, 2011-12-30) begins where the next one does.
 */
import { IANAZone } from "luxon";
import { DAY_MS, type InstantRange, midnightOf } from "../../common/days.js";

const MINUTE = 60_000;

/** Returns seconds since 1970. `date` is `YYYY-MM-DD`, `timezone` an IANA name. */
export function startOfDay(date: string, timezone: string): number {
  const offset = offsets(timezone);
  const midnight = midnightOf(date).getTime(); // as if local time were UTC
  const before = offset(midnight - DAY_MS);
  const after = offset(midnight + DAY_MS);
  const found = [before, after].map((each) => midnight - each).filter((at) => at + offset(at) === midnight);
  if (found.length > 0) return Math.min(...found) / 1000;
  return changeOfOffset(offset, midnight - after, midnight - before) / 1000;
}

/** Clocks change at most once in this time, except for a few days in a century. */
const STEP = 7 * DAY_MS;

/**
 * Returns the spans from the first to the second midnight of days whose clocks fall back *past* midnight, so that part
 * of the previous day repeats (Newfoundland until 2011, a minute after midnight). The stores' calendar counts that span
 * to the previous day.
 */
export function repeatedSpans(window: InstantRange, timezone: string): InstantRange[] {
  const offset = offsets(timezone);
  const found: InstantRange[] = [];
  let after = offset(window.from * 1000 - STEP);
  for (let at = window.from * 1000 - STEP; at < window.to * 1000; at += STEP) {
    const before = after;
    after = offset(at + STEP);
    if (after >= before) continue;
    const change = changeOfOffset(offset, at, at + STEP);
    const midnight = Math.floor((change + before - 1000) / DAY_MS) * DAY_MS; // of the day that had begun
    if (change + after < midnight)
      found.push({ from: (midnight - before) / 1000, to: (midnight - after) / 1000 });
  }
  return found;
}

/** Finds the first instant in `(from, to]` whose offset differs from that at `from`. */
function changeOfOffset(offset: (instant: number) => number, from: number, to: number): number {
  const before = offset(from);
  let [last, first] = [from, to];
  while (first - last > 1000) {
    const middle = last + Math.floor((first - last) / 2000) * 1000;
    if (offset(middle) === before) last = middle;
    else first = middle;
  }
  return first;
}

/** Offsets and instants are in milliseconds. */
function offsets(timezone: string): (instant: number) => number {
  const zone = IANAZone.create(timezone);
  return (instant) => zone.offset(instant) * MINUTE;
}

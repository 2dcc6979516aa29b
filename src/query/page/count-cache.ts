/**
 * Counts of days that were read before: all pages of a list have the same ones, and of some filters they take longer than the page itself.
 * They hold for as long as what is published stays the same, which Postgres tells in a millisecond (`state/published.ts`).
 */
import { setNewest } from "../../store/set-newest.js";
import type { CountDays, DayCount } from "./days.js";

export interface CountCache {
  /** `key`: of the list, its filters, its window and what is published; undefined when that is not certain. */
  of(key: string | undefined, read: Parameters<CountDays>[0]): ReturnType<CountDays>;
}

/** 50 bytes a day: with 400 days, 4 MB. */
const MOST_KNOWN = 200;

export function createCountCache(most = MOST_KNOWN): CountCache {
  const known = new Map<string, readonly DayCount[]>();
  return {
    async of(key, read) {
      if (key === undefined) return await read();
      const counts = known.get(key) ?? (await read());
      setNewest(known, key, counts, most);
      return counts;
    },
  };
}

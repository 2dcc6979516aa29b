/**
 * A cache of row counts per day. All pages of a list have the same counts, and with some filters counting takes longer
 * than reading the page. Counts stay valid until published data changes, which Postgres reports within a millisecond
 * (`state/published.ts`).
 */
import { LRUCache } from "lru-cache";
import type { CountDays, DayCount } from "./days.js";

export interface CountCache {
  /**
   * `key` identifies the list, its filters, its window and the published state. Undefined if the state is uncertain:
   * nothing is cached.
   */
  of(key: string | undefined, read: Parameters<CountDays>[0]): ReturnType<CountDays>;
}

/** A day takes 50 bytes, so with 400 days each the cache takes 4 MB. */
const MAX_ENTRIES = 200;

export function createCountCache(maxEntries = MAX_ENTRIES): CountCache {
  const cached = new LRUCache<string, readonly DayCount[]>({ max: maxEntries });
  return {
    async of(key, read) {
      if (key === undefined) return await read();
      const known = cached.get(key);
      if (known !== undefined) return known;
      const counts = await read();
      cached.set(key, counts);
      return counts;
    },
  };
}

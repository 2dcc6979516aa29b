/**
 * Remembers which days have usage with a scale, so that reads do not look for scales on days without any. Hardly any
 * usage has one, and a day's usage stays the same until the day is published again.
 */
import { LRUCache } from "lru-cache";
import type { PublishedDays } from "../state/published.js";

/** Returns those of the days that may have usage with a scale. `read` returns those that have. */
export type ScaledDays = (
  days: readonly string[],
  read: (days: readonly string[]) => Promise<readonly string[]>,
) => Promise<readonly string[]>;

/** Without knowledge of what is published, any day may have a scale. */
export const anyDay: ScaledDays = async (days) => days;

/** A few days of each page: 2 MB. */
const MOST_DAYS = 10_000;

/** `published` reads the published state of the days; undefined while it may be changing. */
export function createScaledDays() {
  const cache = new LRUCache<string, boolean>({ max: MOST_DAYS });
  return (tenantName: string, published: () => Promise<PublishedDays | undefined>): ScaledDays =>
    async (days, read) => {
      const state = await published();
      if (state === undefined) return days;
      const keyOf = (day: string) => JSON.stringify([tenantName, day, state.days.get(day)]);
      const unread = days.filter((day) => state.days.has(day) && !cache.has(keyOf(day)));
      if (unread.length > 0) {
        const scaled = new Set(await read(unread));
        for (const day of unread) cache.set(keyOf(day), scaled.has(day));
      }
      return days.filter((day) => cache.get(keyOf(day)) !== false);
    };
}

/**
 * A cache of a read's rows per UTC day. A day's rows stay valid until that day is published again, which Postgres
 * reports within a millisecond (`published.ts`). Most requests are for a period with one new day.
 */
import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import { addDays, DAY_SECONDS, daysOfWindow } from "../../common/days.js";
import type { DateWindow } from "../time/date-window.js";
import type { PublishedDays } from "./published.js";

export interface DayCache<Row> {
  /** `published` reads the published state of the window's days; undefined while it may be changing. */
  ofTenant(tenantName: string, published: () => Promise<PublishedDays | undefined>): TenantDayCache<Row>;
}

/** The cache of one tenant. */
export interface TenantDayCache<Row> {
  /** Returns the rows of the window. Calls `read` once, for the range of days that are not cached. */
  of(
    request: { readonly window: DateWindow; readonly key: (nameVersions: string) => unknown },
    read: (window: DateWindow) => Promise<readonly Row[]>,
  ): Promise<readonly Row[]>;
}

export interface DayCacheOptions<Row> {
  /** The most entries. An entry's key has everything that its rows depend on besides their day. */
  readonly maxEntries: number;
  readonly dayOf: (row: Row) => string;
  /** True if the store was in the same state for this row as for the others. */
  readonly isSteady?: (row: Row) => boolean;
}

interface CachedDay<Row> {
  /** The published state of the day. */
  readonly state: string;
  readonly rows: readonly Row[];
}

/** Longer windows are not cached. */
const MAX_DAYS = 1000;

/** Windows are of whole UTC days, and `read` returns rows in the order of their days. */
export function createDayCache<Row>({
  maxEntries,
  dayOf,
  isSteady = () => true,
}: DayCacheOptions<Row>): DayCache<Row> {
  const entries = new LRUCache<string, Map<string, CachedDay<Row>>>({ max: maxEntries });
  return {
    ofTenant: (tenantName, published) => ({
      async of({ window, key: keyOf }, read) {
        const isLong = window.to - window.from > MAX_DAYS * DAY_SECONDS;
        const state = isLong ? undefined : await published();
        if (state === undefined) return await read(window);
        const key = JSON.stringify([tenantName, keyOf(state.nameVersions)]);
        const cachedDays = entries.get(key) ?? new Map<string, CachedDay<Row>>();
        const days = daysOfWindow({ start: window.startDate, end: addDays(window.endDate, 1) });
        const stateOf = (day: string) => state.days.get(day) ?? "";
        const isMissing = (day: string) => cachedDays.get(day)?.state !== stateOf(day);
        const first = days.findIndex(isMissing);
        if (first >= 0) {
          const missing = days.slice(first, days.findLastIndex(isMissing) + 1);
          const from = window.from + first * DAY_SECONDS;
          const found = await read({ ...window, from, to: from + missing.length * DAY_SECONDS });
          // Cached and new rows must be of the same published state. Otherwise, read the whole window.
          const isSameState = found.every(isSteady) && isDeepStrictEqual(await published(), state);
          if (!isSameState) return await read(window);
          for (const day of missing)
            cachedDays.set(day, { state: stateOf(day), rows: found.filter((row) => dayOf(row) === day) });
        }
        const rows = days.flatMap((day) => cachedDays.get(day)?.rows ?? []);
        if (cachedDays.size > 2 * MAX_DAYS) cachedDays.clear();
        entries.set(key, cachedDays);
        return rows;
      },
    }),
  };
}

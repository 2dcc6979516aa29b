/**
 * What a read finds of each UTC day, remembered until that day is published again, which Postgres tells in a millisecond (`published.ts`). What
 * is asked for is mostly a period of which one day is new.
 */
import { isDeepStrictEqual } from "node:util";
import { setNewest } from "../../store/set-newest.js";
import { addDays, DAY_SECONDS, daysOfWindow } from "../../time/days.js";
import type { DateWindow } from "../time/date-window.js";
import type { PublishedDays } from "./published.js";

export interface DayCache<Row> {
  /** `published`: reads what is published of the days of the window; undefined while that may be changing. */
  ofTenant(tenantName: string, published: () => Promise<PublishedDays | undefined>): TenantDayCache<Row>;
}

/** What is remembered of one tenant. */
export interface TenantDayCache<Row> {
  /** What `read` returns for the window. It is asked for the days that are not known, in one piece. */
  of(
    asked: { readonly window: DateWindow; readonly key: (names: string) => unknown },
    read: (window: DateWindow) => Promise<readonly Row[]>,
  ): Promise<readonly Row[]>;
}

export interface DayCacheOptions<Row> {
  /** So many questions; each is by the key that comes with it, which has all that its rows depend on besides their day. */
  readonly most: number;
  readonly dayOf: (row: Row) => string;
  /** Whether the row is of one state with those beside it. */
  readonly isSteady?: (row: Row) => boolean;
}

interface KnownDay<Row> {
  /** What was published of it. */
  readonly state: string;
  readonly rows: readonly Row[];
}

/** Of longer windows nothing is remembered. */
const MOST_DAYS = 1000;

/** The windows are of whole UTC days, and the rows of a window are in the order of their days. */
export function createDayCache<Row>({
  most,
  dayOf,
  isSteady = () => true,
}: DayCacheOptions<Row>): DayCache<Row> {
  const questions = new Map<string, Map<string, KnownDay<Row>>>();
  return {
    ofTenant: (tenantName, published) => ({
      async of({ window, key: keyOf }, read) {
        const isLong = window.to - window.from > MOST_DAYS * DAY_SECONDS;
        const state = isLong ? undefined : await published();
        if (state === undefined) return await read(window);
        const key = JSON.stringify([tenantName, keyOf(state.names)]);
        const known = questions.get(key) ?? new Map<string, KnownDay<Row>>();
        const days = daysOfWindow({ start: window.startDate, end: addDays(window.endDate, 1) });
        const stateOf = (day: string) => state.days.get(day) ?? "";
        const isUnknown = (day: string) => known.get(day)?.state !== stateOf(day);
        const first = days.findIndex(isUnknown);
        if (first >= 0) {
          const unknown = days.slice(first, days.findLastIndex(isUnknown) + 1);
          const from = window.from + first * DAY_SECONDS;
          const found = await read({ ...window, from, to: from + unknown.length * DAY_SECONDS });
          // What was known is of one state with what was read, or none of it counts.
          const isOfState = found.every(isSteady) && isDeepStrictEqual(await published(), state);
          if (!isOfState) return await read(window);
          for (const day of unknown)
            known.set(day, { state: stateOf(day), rows: found.filter((row) => dayOf(row) === day) });
        }
        const rows = days.flatMap((day) => known.get(day)?.rows ?? []);
        if (known.size > 2 * MOST_DAYS) known.clear();
        setNewest(questions, key, known, most);
        return rows;
      },
    }),
  };
}

/**
 * How far aggregations reach on a day, remembered until that day is published again, which Postgres tells in a millisecond (`state/published.ts`).
 * Counting the buckets of all rows takes most of the time of an aggregation, and most of its days were counted before.
 */
import { isDeepStrictEqual } from "node:util";
import { setNewest } from "../../store/set-newest.js";
import { addDays, DAY_SECONDS, daysOfWindow } from "../../time/days.js";
import type { PublishedDays } from "../state/published.js";
import { isLineTagColumn } from "../tags/filter.js";
import { isUtc } from "../time/bucket.js";
import { valueFilters } from "../value-filters.js";
import type { BucketExtent, KnownExtents } from "./aggregate-extent.js";
import { type AggregateInput, groupColumns } from "./aggregate-source.js";

export interface ExtentMemory {
  /** `published`: reads what is published of the days of the window; undefined while that may be changing. */
  ofTenant(tenantName: string, published: () => Promise<PublishedDays | undefined>): KnownExtents;
}

interface KnownDay {
  /** What was published of it. */
  readonly state: string;
  readonly rows: readonly BucketExtent[];
}

/** Each of 400 days in one currency: 10 MB. */
const MOST_AGGREGATIONS = 100;
/** Of longer windows nothing is remembered. */
const MOST_DAYS = 1000;

export function createExtentMemory(): ExtentMemory {
  const aggregations = new Map<string, Map<string, KnownDay>>();
  return {
    ofTenant: (tenantName, published) => ({
      async of(input, read) {
        const { window } = input;
        const state = isByUtcDay(input) ? await published() : undefined;
        if (state === undefined) return await read(window);
        const key = JSON.stringify([tenantName, input.groupBy, input.filters, namesIn(input, state)]);
        const known = aggregations.get(key) ?? new Map<string, KnownDay>();
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
          for (const [index, day] of unknown.entries()) {
            const begin = from + index * DAY_SECONDS;
            const rows = found.filter(([, last]) => begin <= last && last < begin + DAY_SECONDS);
            known.set(day, { state: stateOf(day), rows });
          }
        }
        const rows = days.flatMap((day) => known.get(day)?.rows ?? []);
        if (known.size > 2 * MOST_DAYS) known.clear();
        setNewest(aggregations, key, known, MOST_AGGREGATIONS);
        return rows;
      },
    }),
  };
}

const isSteady = (row: BucketExtent) => row[8] === 0;

/** Its buckets lie each within a UTC day, and all of the days are asked for. */
function isByUtcDay({ timeBucket, window: { from, to, timezone } }: AggregateInput): boolean {
  return timeBucket === "day" && isUtc(timezone) && to - from <= MOST_DAYS * DAY_SECONDS;
}

/** The state of tags and teams, where buckets depend on them. */
function namesIn({ groupBy, filters }: AggregateInput, { names }: PublishedDays): string | undefined {
  const isOfRowsAlone =
    groupBy.every((column) => column in groupColumns || isLineTagColumn(column)) &&
    (filters.tags ?? []).every(({ isOfLine }) => isOfLine) &&
    valueFilters(["team"], filters).length === 0;
  return isOfRowsAlone ? undefined : names;
}

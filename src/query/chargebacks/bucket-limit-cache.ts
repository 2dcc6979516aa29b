/**
 * How far aggregations reach on a day, remembered until that day is published again. Counting the buckets of all rows takes most of the time of an
 * aggregation, and most of its days were counted before.
 */
import { dayOfSeconds } from "../../time/days.js";
import { createDayCache } from "../state/day-cache.js";
import type { PublishedDays } from "../state/published.js";
import { isLineTagColumn } from "../tags/filter.js";
import { isUtc } from "../time/bucket.js";
import { valueFilters } from "../value-filters.js";
import { type AggregateInput, groupColumns } from "./aggregate-source.js";
import type { BucketRow, BucketRowCache } from "./bucket-limit.js";
import { type ChargebackFilters, filterNames } from "./scan.js";

export interface BucketLimitCache {
  /** `published`: reads what is published of the days of the window; undefined while that may be changing. */
  ofTenant(tenantName: string, published: () => Promise<PublishedDays | undefined>): BucketRowCache;
}

/** Each of 400 days in one currency: 10 MB. */
const MOST_AGGREGATIONS = 100;

export function createBucketLimitCache(): BucketLimitCache {
  const memory = createDayCache<BucketRow>({
    maxEntries: MOST_AGGREGATIONS,
    dayOf: ([, last]) => dayOfSeconds(last),
    isSteady: (row) => row[8] === 0,
  });
  return {
    ofTenant(tenantName, published) {
      const known = memory.ofTenant(tenantName, published);
      return {
        async of(input, read) {
          const { window, groupBy, filters } = input;
          if (!isByUtcDay(input)) return await read(window);
          const key = (names: string) => [
            groupBy,
            questionOf(filters),
            showsNames(input) ? names : undefined,
          ];
          return await known.of({ window, key }, read);
        },
      };
    },
  };
}

/** What the filters say, whatever else a request has beside them: its window moves on every day. */
function questionOf(filters: ChargebackFilters): unknown {
  return [valueFilters([...filterNames, "team"], filters), filters.tags ?? []];
}

/** Its buckets lie each within a UTC day, and all of the days are asked for. */
function isByUtcDay({ timeBucket, window: { timezone } }: AggregateInput): boolean {
  return timeBucket === "day" && isUtc(timezone);
}

/** Whether buckets depend on the state of tags and teams. */
function showsNames({ groupBy, filters }: AggregateInput): boolean {
  const isOfRowsAlone =
    groupBy.every((column) => column in groupColumns || isLineTagColumn(column)) &&
    (filters.tags ?? []).every(({ isOfLine }) => isOfLine) &&
    valueFilters(["team"], filters).length === 0;
  return !isOfRowsAlone;
}

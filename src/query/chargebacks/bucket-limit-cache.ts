/**
 * A cache of the bucket counts of aggregations per day, valid until the day is published again. Counting the buckets of
 * all rows takes most of the time of an aggregation, and most days have been counted before.
 */
import { dayOfSeconds } from "../../common/days.js";
import { createDayCache } from "../state/day-cache.js";
import type { PublishedDays } from "../state/published.js";
import { isLineTagColumn } from "../tags/filter.js";
import { isUtc } from "../time/bucket.js";
import { valueFilters } from "../value-filters.js";
import type { BucketRow, BucketRowCache } from "./bucket-limit.js";
import { type ChargebackFilters, filterNames } from "./scan.js";
import { type AggregateInput, groupColumns } from "./summed-rows.js";

export interface BucketLimitCache {
  /** `published` reads the published state of the window's days; undefined while it may be changing. */
  ofTenant(tenantName: string, published: () => Promise<PublishedDays | undefined>): BucketRowCache;
}

/** With 400 days in one currency each, 10 MB. */
const MAX_AGGREGATIONS = 100;

export function createBucketLimitCache(): BucketLimitCache {
  const dayCache = createDayCache<BucketRow>({
    maxEntries: MAX_AGGREGATIONS,
    dayOf: ([, last]) => dayOfSeconds(last),
    isSteady: (row) => row[8] === 0,
  });
  return {
    ofTenant(tenantName, published) {
      const tenantCache = dayCache.ofTenant(tenantName, published);
      return {
        async of(input, read) {
          const { window, groupBy, filters } = input;
          if (!isByUtcDay(input)) return await read(window);
          const key = (nameVersions: string) => [
            groupBy,
            filterKey(filters),
            dependsOnNames(input) ? nameVersions : undefined,
          ];
          return await tenantCache.of({ window, key }, read);
        },
      };
    },
  };
}

/** Returns the filters without the rest of the request: the window moves on every day. */
function filterKey(filters: ChargebackFilters): unknown {
  return [valueFilters([...filterNames, "team", "cause"], filters), filters.tags ?? []];
}

/** True if each bucket is within a UTC day, and the window covers whole days. */
function isByUtcDay({ timeBucket, window: { timezone } }: AggregateInput): boolean {
  return timeBucket === "day" && isUtc(timezone);
}

/** True if buckets depend on tags or teams, which change without a publish. */
function dependsOnNames({ groupBy, filters }: AggregateInput): boolean {
  const dependsOnRowsOnly =
    groupBy.every((column) => column in groupColumns || isLineTagColumn(column)) &&
    (filters.tags ?? []).every(({ isOfLine }) => isOfLine) &&
    valueFilters(["team"], filters).length === 0;
  return !dependsOnRowsOnly;
}

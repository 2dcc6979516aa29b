/** The period of a view: `start_date` and `end_date` in the address, both included, named as in the API. */
import { addDays, addMonths, firstOfMonth, isDay, lastOfMonth } from "../../common/days.js";
import { currentDay, dayCount } from "./days.js";
import type { Place } from "./location.js";

export interface Period {
  readonly first: string;
  readonly last: string;
}

export const presets = {
  last7: (day: string): Period => ({ first: addDays(day, -6), last: day }),
  last30: (day: string): Period => ({ first: addDays(day, -29), last: day }),
  last90: (day: string): Period => ({ first: addDays(day, -89), last: day }),
  thisMonth: (day: string): Period => ({ first: firstOfMonth(day), last: day }),
  lastMonth: (day: string): Period => {
    const last = addDays(firstOfMonth(day), -1);
    return { first: firstOfMonth(last), last };
  },
} as const;
export type Preset = keyof typeof presets;
export const presetNames = Object.keys(presets) as readonly Preset[];

/** The period in the address. Default, also for an invalid one: the last 30 days. */
export function periodOf({ query }: Place): Period {
  const first = query.get("start_date") ?? "";
  const last = query.get("end_date") ?? "";
  return isPossible({ first, last }) ? { first, last } : presets.last30(currentDay());
}

/** Whether the days are in order and in years that the API accepts. */
export function isPossible({ first, last }: Period): boolean {
  return isDay(first) && isDay(last) && "1900" <= first && first <= last && last < "2300";
}

export const periodParameters = ({ first, last }: Period) => ({ start_date: first, end_date: last });

export function presetOf(period: Period): Preset | undefined {
  return presetNames.find((name) => {
    const { first, last } = presets[name](currentDay());
    return first === period.first && last === period.last;
  });
}

/** Length of the time buckets that divides a period into about a hundred bars at most. */
export function bucketFor({ first, last }: Period): "day" | "week" | "month" {
  const days = dayCount(first, last);
  return days <= 100 ? "day" : days <= 500 ? "week" : "month";
}

/** Returns the period of the same length that ends where this one begins; for a calendar month, the month before. */
export function periodBefore({ first, last }: Period): Period {
  const dayBefore = addDays(first, -1);
  if (first === firstOfMonth(first) && last === lastOfMonth(first))
    return { first: firstOfMonth(dayBefore), last: dayBefore };
  const days = dayCount(first, last);
  return { first: addDays(first, -days), last: dayBefore };
}

/** Returns the days of the period a year earlier. */
const yearBefore = ({ first, last }: Period): Period => ({
  first: addMonths(first, -12),
  last: addMonths(last, -12),
});

/** What a period can be compared with. */
export const comparisons = ["previous", "year", "days"] as const;

/**
 * The period that the address compares with, undefined if it compares with none. Days that the user enters have to be
 * in order and before the period; until then they are the days before it.
 */
export function comparedPeriod(place: Place): Period | undefined {
  const { query } = place;
  const period = periodOf(place);
  switch (query.get("compare")) {
    case "previous":
      return periodBefore(period);
    case "year":
      return yearBefore(period);
    case "days": {
      const days = { first: query.get("compare_start") ?? "", last: query.get("compare_end") ?? "" };
      return isPossible(days) && days.last < period.first ? days : periodBefore(period);
    }
    default:
      return undefined;
  }
}

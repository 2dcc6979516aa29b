/** All time buckets of a period, including those without costs, which responses of the API leave out. */
import { addDays, firstOfMonth, lastOfMonth } from "../../common/days.js";
import { dayCount } from "./days.js";
import type { Period } from "./period.js";

export interface Bucket {
  /** The label in API responses. */
  readonly label: string;
  readonly days: number;
  /** Number of its days that are in the period and have their costs. */
  readonly shownDays: number;
}

/** More buckets than this are not computed. */
const MAX_BUCKETS = 5000;
const HOURS = 24;

/**
 * Undefined if the length is unknown, or if there would be too many buckets to tell apart. Without `coveredDays`, all
 * days have their costs.
 */
export function bucketsOf(
  { first, last }: Period,
  length: string,
  coveredDays?: ReadonlySet<string>,
): Bucket[] | undefined {
  if (length === "hour") return hoursOf({ first, last });
  const bucketLength = lengths[length];
  if (bucketLength === undefined || dayCount(first, last) > MAX_BUCKETS) return undefined;
  const buckets: Bucket[] = [];
  for (let start = bucketLength.start(first); start <= last; ) {
    const end = bucketLength.end(start);
    const shown = daysOf(start < first ? first : start, end > last ? last : end);
    const shownDays = shown.filter((day) => coveredDays?.has(day) ?? true).length;
    buckets.push({ label: bucketLength.label(start), days: dayCount(start, end), shownDays });
    start = addDays(end, 1);
  }
  return buckets;
}

const daysOf = (first: string, last: string) =>
  Array.from({ length: dayCount(first, last) }, (_, index) => addDays(first, index));

function hoursOf({ first, last }: Period): Bucket[] | undefined {
  const count = dayCount(first, last) * HOURS;
  if (count > MAX_BUCKETS) return undefined;
  const hourOf = (index: number) => `${String(index % HOURS).padStart(2, "0")}:00:00Z`;
  return Array.from({ length: count }, (_, index) => ({
    label: `${addDays(first, Math.floor(index / HOURS))}T${hourOf(index)}`,
    days: 1,
    shownDays: 1,
  }));
}

/** The label of the bucket that begins with the day, or has it; undefined if the length is unknown. */
export function bucketOfDay(day: string, length: string): string | undefined {
  const bucketLength = lengths[length];
  if (bucketLength === undefined) return length === "hour" ? `${day}T00:00:00Z` : undefined;
  return bucketLength.label(bucketLength.start(day));
}

interface BucketLength {
  /** First day of the bucket of a day. */
  readonly start: (day: string) => string;
  readonly end: (start: string) => string;
  readonly label: (start: string) => string;
}

const lengths: Readonly<Partial<Record<string, BucketLength>>> = {
  day: { start: (day) => day, end: (day) => day, label: (day) => day },
  week: {
    start: (day) => addDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7)),
    end: (monday) => addDays(monday, 6),
    label: weekOf,
  },
  month: { start: firstOfMonth, end: lastOfMonth, label: (first) => first.slice(0, 7) },
};

/** The ISO week of a Monday. Its year is that of its Thursday. */
function weekOf(monday: string): string {
  const thursday = addDays(monday, 3);
  const year = thursday.slice(0, 4);
  const week = Math.ceil(dayCount(`${year}-01-01`, thursday) / 7);
  return `${year}-W${String(week).padStart(2, "0")}`;
}

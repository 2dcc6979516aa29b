/** The time buckets of a period: also those without costs, which an answer of the API leaves out. */
import { daysBetween, firstOfMonth, lastOfMonth, shifted } from "./days.js";
import type { Period } from "./period.js";

export interface Bucket {
  /** As the API names it. */
  readonly label: string;
  readonly days: number;
  /** Of its days, those that the period has. */
  readonly shown: number;
}

/** More are not drawn one by one. */
const MOST = 5000;
const HOURS = 24;

/** Undefined for more than anybody can tell apart: then those that have costs are all there are. */
export function bucketsOf({ first, last }: Period, length: string): Bucket[] | undefined {
  if (length === "hour") return hoursOf({ first, last });
  const from = starts[length];
  if (from === undefined || daysBetween(first, last) > MOST) return undefined;
  const buckets: Bucket[] = [];
  for (let start = from.of(first); start <= last; ) {
    const end = from.end(start);
    const shown = daysBetween(start < first ? first : start, end > last ? last : end);
    buckets.push({ label: from.label(start), days: daysBetween(start, end), shown });
    start = shifted(end, 1);
  }
  return buckets;
}

function hoursOf({ first, last }: Period): Bucket[] | undefined {
  const count = daysBetween(first, last) * HOURS;
  if (count > MOST) return undefined;
  const hourOf = (index: number) => `${String(index % HOURS).padStart(2, "0")}:00:00Z`;
  return Array.from({ length: count }, (_, index) => ({
    label: `${shifted(first, Math.floor(index / HOURS))}T${hourOf(index)}`,
    days: 1,
    shown: 1,
  }));
}

interface Length {
  /** First day of the bucket of a day. */
  readonly of: (day: string) => string;
  readonly end: (start: string) => string;
  readonly label: (start: string) => string;
}

const starts: Readonly<Partial<Record<string, Length>>> = {
  day: { of: (day) => day, end: (day) => day, label: (day) => day },
  week: {
    of: (day) => shifted(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7)),
    end: (monday) => shifted(monday, 6),
    label: weekOf,
  },
  month: { of: firstOfMonth, end: lastOfMonth, label: (first) => first.slice(0, 7) },
};

/** ISO week of a Monday: the year is that of its Thursday. */
function weekOf(monday: string): string {
  const thursday = shifted(monday, 3);
  const year = thursday.slice(0, 4);
  const week = Math.ceil(daysBetween(`${year}-01-01`, thursday) / 7);
  return `${year}-W${String(week).padStart(2, "0")}`;
}

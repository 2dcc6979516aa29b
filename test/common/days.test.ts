/** UTC days, compared with a calendar that is built from the lengths of months alone. */
import { strict as assert } from "node:assert";
import t from "tap";
import {
  addDays,
  addMonths,
  DAY_MS,
  DAY_SECONDS,
  dayOf,
  dayOfSeconds,
  daysBetween,
  daysOfWindow,
  earliest,
  firstOfMonth,
  isDay,
  lastOfMonth,
  latest,
  midnightOf,
  midnightSeconds,
} from "../../src/common/days.js";
import fc from "../property.js";

interface CalendarDay {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function lengthOf({ year, month }: Pick<CalendarDay, "year" | "month">): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function text({ year, month, day }: CalendarDay): string {
  return [String(year).padStart(4, "0"), ...[month, day].map((each) => String(each).padStart(2, "0"))].join(
    "-",
  );
}

function next({ year, month, day }: CalendarDay): CalendarDay {
  if (day < lengthOf({ year, month })) return { year, month, day: day + 1 };
  return month < 12 ? { year, month: month + 1, day: 1 } : { year: year + 1, month: 1, day: 1 };
}

/** Kinds of days that can go wrong. A day may have several kinds. */
const kinds: Readonly<Record<string, (day: CalendarDay) => boolean>> = {
  "29 February": ({ month, day }) => month === 2 && day === 29,
  "29 February of a century": ({ year, month, day }) => year % 100 === 0 && month === 2 && day === 29,
  "28 February of a common year": ({ year, month, day }) => !isLeap(year) && month === 2 && day === 28,
  "28 February of a common century": ({ year, month, day }) =>
    year % 100 === 0 && !isLeap(year) && month === 2 && day === 28,
  "end of a month": (each) => each.day === lengthOf(each),
  "end of a year": ({ month, day }) => month === 12 && day === 31,
  "before 1970": ({ year }) => year < 1970,
  "before the year 100": ({ year }) => year < 100,
  "after the year 2299": ({ year }) => year > 2299,
  "in the middle of a month of our time": ({ year, day }) =>
    year >= 2020 && year < 2040 && day > 1 && day < 28,
};

/** Leaves a year at both ends of the calendar. */
const years = fc.oneof(
  fc.integer({ min: 2020, max: 2039 }),
  fc.integer({ min: 1, max: 9998 }),
  fc.integer({ min: 1, max: 99 }).map((century) => century * 100),
  fc.integer({ min: 1, max: 99 }),
);
const ofMonth = (months: fc.Arbitrary<number>, days: fc.Arbitrary<number>): fc.Arbitrary<CalendarDay> =>
  fc
    .tuple(years, months, days)
    .map(([year, month, day]) => ({ year, month, day: Math.min(day, lengthOf({ year, month })) }));
const calendarDays = fc.oneof(
  ofMonth(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 31 })),
  ofMonth(fc.constant(2), fc.constant(29)),
  ofMonth(fc.constantFrom(1, 4, 12), fc.constant(31)),
);

/** Counts the kinds of the drawn days. A kind that rarely occurred has not been tested. */
function counting() {
  const counted = new Map(Object.keys(kinds).map((kind) => [kind, 0]));
  return {
    count(day: CalendarDay): void {
      for (const [kind, has] of Object.entries(kinds))
        if (has(day)) counted.set(kind, (counted.get(kind) ?? 0) + 1);
    },
    rare: () => [...counted].filter(([, count]) => count < 2),
  };
}

t.test("a day is followed by the next calendar day, and sorts before it", async (t) => {
  const met = counting();
  fc.assert(
    fc.property(calendarDays, (each) => {
      met.count(each);
      const [day, following] = [text(each), text(next(each))];
      assert.deepEqual(
        {
          days: [isDay(day), addDays(day, 1), addDays(following, -1)],
          apart: [daysBetween(day, following), daysBetween(following, day), daysBetween(day, day)],
          order: [earliest(following, day), latest(day, following)],
        },
        { days: [true, following, day], apart: [1, -1, 0], order: [day, following] },
      );
    }),
    { numRuns: 3000 },
  );
  t.strictSame(met.rare(), [], "every kind of day was met");
});

t.test("every instant of a day belongs to it, and no other instant", async (t) => {
  const met = counting();
  const withinDay = fc.integer({ min: 0, max: DAY_MS - 1 });
  fc.assert(
    fc.property(calendarDays, withinDay, (each, ms) => {
      met.count(each);
      const day = text(each);
      const start = midnightOf(day).getTime();
      const of = (at: number) => [dayOf(new Date(at)), dayOfSeconds(Math.floor(at / 1000))];
      assert.deepEqual(
        [start, start + ms, start + DAY_MS - 1].map(of),
        Array.from({ length: 3 }, () => [day, day]),
      );
      assert.deepEqual(of(start - 1), [addDays(day, -1), addDays(day, -1)]);
      assert.deepEqual(of(start + DAY_MS), [text(next(each)), text(next(each))]);
      assert.equal(midnightSeconds(day), start / 1000);
      assert.equal(midnightOf(day).toISOString(), `${day}T00:00:00.000Z`);
    }),
    { numRuns: 3000 },
  );
  t.strictSame(met.rare(), [], "every kind of day was met");
  t.equal(midnightSeconds("1970-01-01"), 0);
  t.equal(midnightSeconds("1970-01-02"), DAY_SECONDS);
});

t.test("adding and subtracting days are inverse, and differences are whole days", async (t) => {
  const met = counting();
  const distances = new Set<string>();
  const distance = fc.oneof(fc.integer({ min: -300_000, max: 300_000 }), fc.integer({ min: -3, max: 3 }));
  fc.assert(
    fc.property(calendarDays, distance, (each, days) => {
      // Stay within the calendar: a year has at most 366 days.
      fc.pre(each.year + days / 365 > 1 && each.year + days / 365 < 9998);
      met.count(each);
      distances
        .add(days < 0 ? "back" : days > 0 ? "on" : "none")
        .add(Math.abs(days) > 146_097 ? "far" : "near");
      const from = text(each);
      const to = addDays(from, days);
      assert.deepEqual(
        [addDays(to, -days), daysBetween(from, to), daysBetween(to, from) + days],
        [from, days, 0],
      );
      assert.equal(Math.sign(days), from < to ? 1 : from > to ? -1 : 0);
      assert.equal(midnightOf(to).getTime() - midnightOf(from).getTime(), days * DAY_MS);
    }),
    { numRuns: 3000 },
  );
  t.strictSame(met.rare(), [], "every kind of day was met");
  t.strictSame([...distances].sort(), ["back", "far", "near", "none", "on"]);
});

t.test("a window has each day from its start to its end, without the end", async (t) => {
  const met = counting();
  const lengths = new Set<string>();
  fc.assert(
    fc.property(calendarDays, fc.integer({ min: -3, max: 400 }), (each, length) => {
      // Leave a year, so that the window ends within the calendar.
      fc.pre(each.year < 9998);
      met.count(each);
      lengths.add(length < 0 ? "reversed" : length === 0 ? "empty" : length > 366 ? "over a year" : "days");
      const start = text(each);
      const expected: string[] = [];
      for (let day: CalendarDay = each; expected.length < length; day = next(day)) expected.push(text(day));
      assert.deepEqual(daysOfWindow({ start, end: addDays(start, length) }), expected);
    }),
    { numRuns: 1000 },
  );
  t.strictSame(met.rare(), [], "every kind of day was met");
  t.strictSame([...lengths].sort(), ["days", "empty", "over a year", "reversed"]);
});

t.test("months have their own lengths", async (t) => {
  const met = counting();
  const moves = new Set<string>();
  fc.assert(
    fc.property(calendarDays, fc.integer({ min: -30, max: 30 }), (each, months) => {
      fc.pre(each.year > 4 && each.year < 9995);
      met.count(each);
      const { year, month, day } = each;
      const at = year * 12 + month - 1 + months;
      const there = { year: Math.floor(at / 12), month: (at % 12) + 1 };
      const length = lengthOf(there);
      moves.add(day > length ? "to a shorter month" : "to the same day");
      assert.deepEqual(
        [firstOfMonth(text(each)), lastOfMonth(text(each)), addMonths(text(each), months)],
        [
          text({ year, month, day: 1 }),
          text({ year, month, day: lengthOf(each) }),
          text({ ...there, day: Math.min(day, length) }),
        ],
      );
    }),
    { numRuns: 3000 },
  );
  t.strictSame(met.rare(), [], "every kind of day was met");
  t.strictSame([...moves].sort(), ["to a shorter month", "to the same day"]);
});

t.test("the earliest and latest of several days are the first and last in order", async (t) => {
  fc.assert(
    fc.property(fc.array(calendarDays, { minLength: 1, maxLength: 5 }), (drawn) => {
      const [first = "", ...others] = drawn.map(text);
      const instants = [first, ...others].map((day) => midnightOf(day).getTime());
      assert.equal(earliest(first, ...others), dayOf(new Date(Math.min(...instants))));
      assert.equal(latest(first, ...others), dayOf(new Date(Math.max(...instants))));
    }),
  );
  t.pass("the property is true for all examples");
});

const NO_DAYS = [
  "",
  "garbage",
  "2026-1-1",
  "20260101",
  "2026-001",
  "2026-W01",
  "2026-W01-1",
  "2026-01-01T00:00:00Z",
  " 2026-01-01",
  "2026-01-01\n",
  "+2026-01-01",
  "-000001-01-01",
  "+010000-01-01",
  "0000-00-00",
  "2026-00-01",
  "2026-01-00",
  "2026-13-01",
  "2026-01-32",
  "2026-04-31",
  "2026-02-29",
  "2100-02-29",
];

t.test("a text that is not a day is refused everywhere", async (t) => {
  const refuse: Readonly<Record<string, (day: string) => unknown>> = {
    midnightOf,
    midnightSeconds,
    addDays: (day) => addDays(day, 0),
    addMonths: (day) => addMonths(day, 0),
    daysBetween: (day) => daysBetween(day, "2026-01-01"),
    "daysBetween, the second": (day) => daysBetween("2026-01-01", day),
    daysOfWindow: (day) => daysOfWindow({ start: day, end: "2026-01-01" }),
    "daysOfWindow, the end": (day) => daysOfWindow({ start: "2026-01-01", end: day }),
    firstOfMonth,
    lastOfMonth,
  };
  for (const day of NO_DAYS) {
    t.equal(isDay(day), false, day);
    for (const [name, call] of Object.entries(refuse))
      t.throws(() => call(day), new RangeError(`not a day: ${day}`), `${name}: ${day}`);
  }
  for (const day of ["0000-01-01", "2000-02-29", "2024-02-29", "9999-12-31"]) t.equal(isDay(day), true, day);
});

t.test("results outside the years 0000 to 9999 are refused", async (t) => {
  const outside = new RangeError("not a day of the years 0000 to 9999");
  t.throws(() => addDays("9999-12-31", 1), outside);
  t.throws(() => addDays("0000-01-01", -1), outside);
  t.throws(() => addMonths("9999-12-01", 1), outside);
  t.throws(() => addDays("2026-01-01", 1e12), outside);
  t.throws(() => dayOf(new Date(8.64e15)), outside);
  t.throws(() => dayOf(new Date(Number.NaN)), outside);
  t.throws(() => dayOfSeconds(Number.NaN), outside);
  t.throws(() => dayOfSeconds(253_402_300_800), outside);
  t.equal(dayOfSeconds(253_402_300_799), "9999-12-31");
  t.strictSame(daysOfWindow({ start: "9999-12-30", end: "9999-12-31" }), ["9999-12-30"]);
});

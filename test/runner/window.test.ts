/** The days of a run in the years 1900 to 2299, compared with counted days, in any time zone of the process. */
import { strict as assert } from "node:assert";
import t from "tap";
import { dayOf, daysOfWindow } from "../../src/common/days.js";
import { cutWindow, gatherWindow, refuseUnstorable } from "../../src/runner/window.js";
import { Classes } from "../ingest/classes.js";
import fc from "../property.js";

const DAY = 86_400_000;
const numberOf = (year: number, month: number, day: number) => Date.UTC(year, month - 1, day) / DAY;
const textOf = (number: number) => new Date(number * DAY).toISOString().slice(0, 10);
const [FIRST, LAST] = [numberOf(1900, 1, 1), numberOf(2299, 12, 31)];
const [FIRST_STORED, LAST_STORED] = [0, numberOf(2105, 12, 31)];

const zones = ["UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"];

/** Days that can go wrong, and the days around them. */
const notable = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: 1900, max: 2299 }),
      fc.constantFrom(1900, 1969, 1970, 2000, 2000, 2000, 2011, 2025, 2100, 2105, 2106, 2149, 2200, 2299),
    ),
    fc.constantFrom([1, 1], [2, 28], [3, 1], [3, 9], [4, 6], [6, 30], [10, 5], [11, 2], [12, 31]),
    fc.integer({ min: -3, max: 40 }),
  )
  .map(([year, [month = 1, day = 1], after]) => numberOf(year, month, day) + after);
const days = fc.oneof(notable, fc.integer({ min: FIRST, max: LAST }));

const input = fc.record({
  day: days,
  /** If set, the window begins or ends at the edge of the storable range instead of near the day. */
  edge: fc.oneof(
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "first" as const,
        "last" as const,
        "one before" as const,
        "one after" as const,
      ),
    },
    { weight: 9, arbitrary: fc.constant(undefined) },
  ),
  /** Time of the day in ms. Its first and its last instant are frequent. */
  at: fc.oneof(fc.constantFrom(0, DAY - 1), fc.integer({ min: 0, max: DAY - 1 })),
  lookback: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 2, max: 40 }) },
    { weight: 1, arbitrary: fc.integer({ min: 2, max: 364 }) },
  ),
  cutoff: fc.integer({ min: 1, max: 30 }),
  daysPerWindow: fc.constantFrom(1, 2, 7, 31),
  cutAtMonths: fc.boolean(),
  zone: fc.constantFrom(...zones),
});

const names = [
  "29 February",
  "29 February of a century",
  "28 February of a common century",
  "an end of a month",
  "an end of a year",
  "clocks of the process change",
  "before 1970",
  "begins with the first day that can be stored",
  "begins a day before it",
  "ends with the last day that can be stored",
  "ends a day after it",
  "after 2105",
  "begins in one year and ends in the next",
  "one day",
] as const;

function countDays(classes: Classes<(typeof names)[number]>, first: number, end: number): void {
  for (let day = first; day < end; day += 1) {
    const text = textOf(day);
    const isCentury = text.slice(2, 4) === "00";
    if (text.endsWith("-02-29")) classes.met(isCentury ? "29 February of a century" : "29 February");
    if (isCentury && text.endsWith("-02-28") && textOf(day + 1).endsWith("-03-01"))
      classes.met("28 February of a common century");
    if (textOf(day + 1).endsWith("-01")) classes.met("an end of a month");
    if (text.endsWith("-12-31")) classes.met("an end of a year");
    const [before, after] = [day, day + 1].map((each) => new Date(each * DAY).getTimezoneOffset());
    if (before !== after) classes.met("clocks of the process change");
  }
  if (first === FIRST_STORED) classes.met("begins with the first day that can be stored");
  if (first === FIRST_STORED - 1) classes.met("begins a day before it");
  if (end - 1 === LAST_STORED) classes.met("ends with the last day that can be stored");
  if (end - 1 === LAST_STORED + 1) classes.met("ends a day after it");
  if (first < FIRST_STORED) classes.met("before 1970");
  if (end - 1 > LAST_STORED) classes.met("after 2105");
  if (textOf(first).slice(0, 4) !== textOf(end - 1).slice(0, 4))
    classes.met("begins in one year and ends in the next");
  if (end - first === 1) classes.met("one day");
}

const zoneBefore = process.env.TZ;
t.teardown(() => {
  if (zoneBefore === undefined) delete process.env.TZ;
  else process.env.TZ = zoneBefore;
});

t.test(
  "property: a run gathers each day from its lookback to its cutoff in exactly one window",
  async (t) => {
    const classes = new Classes<(typeof names)[number]>();
    const cuts = new Set<string>();
    fc.assert(
      fc.property(input, ({ day, edge, at, lookback, cutoff, daysPerWindow, cutAtMonths, zone }) => {
        fc.pre(lookback > cutoff);
        process.env.TZ = zone;
        const atEdge = {
          first: FIRST_STORED + lookback,
          "one before": FIRST_STORED + lookback - 1,
          last: LAST_STORED + 1 + cutoff,
          "one after": LAST_STORED + 2 + cutoff,
        };
        const today = edge === undefined ? day : atEdge[edge];
        const [first, end] = [today - lookback, today - cutoff];
        countDays(classes, first, end);
        const window = gatherWindow(dayOf(new Date(today * DAY + at)), lookback, cutoff);
        assert.deepEqual(window, { start: textOf(first), end: textOf(end) });

        const pieces = cutWindow(window, { daysPerWindow, cutAtMonths });
        const all = Array.from({ length: end - first }, (_, index) => textOf(first + index));
        assert.deepEqual(
          pieces.toReversed().flatMap(daysOfWindow),
          all,
          "each day once, the newest piece first",
        );
        for (const [index, piece] of pieces.entries()) {
          const has = daysOfWindow(piece);
          assert.ok(has.length > 0 && has.length <= daysPerWindow);
          const months = new Set(has.map((day) => day.slice(0, 7)));
          if (cutAtMonths) assert.equal(months.size, 1);
          const isMonthsFirst = piece.start.endsWith("-01");
          const isLast = index === pieces.length - 1;
          // No window is shorter than necessary.
          if (has.length < daysPerWindow && !isLast) assert.ok(cutAtMonths && isMonthsFirst);
          cuts.add(isLast ? "at the start" : has.length === daysPerWindow ? "by length" : "at a month");
        }

        const isStored = first >= FIRST_STORED && end - 1 <= LAST_STORED;
        if (isStored) refuseUnstorable(window);
        else
          assert.throws(() => refuseUnstorable(window), {
            message: `the days to gather are ${textOf(first)} to ${textOf(end - 1)}, and the stores hold those from 1970-01-01 to 2105-12-31: nothing was gathered or dropped. Is the clock right?`,
          });
      }),
      { numRuns: 1500 },
    );
    t.strictSame(classes.missing(names, 2), [], "every kind of day occurred");
    t.strictSame([...cuts].sort(), ["at a month", "at the start", "by length"]);
  },
);

t.test("days around every end of a month of the years 1900 to 2299 are consecutive", async (t) => {
  process.env.TZ = "Australia/Lord_Howe";
  const wrong: string[] = [];
  let met = 0;
  for (let day = FIRST; day <= LAST; day += 1) {
    if (new Date((day + 2) * DAY).getUTCDate() > 4) continue;
    met += 1;
    const { start, end } = gatherWindow(dayOf(new Date(day * DAY)), 1, 0);
    if (start !== textOf(day - 1) || end !== textOf(day)) wrong.push(textOf(day));
  }
  t.strictSame(wrong, []);
  t.equal(met, 4 * 12 * 400);
});

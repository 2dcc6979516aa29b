/** Points in time: for any window, step and size of a piece, no moment is lost or counted twice. */
import t from "tap";
import {
  addDays,
  DAY_SECONDS,
  dayOfSeconds,
  daysOfWindow,
  midnightSeconds,
} from "../../../src/common/days.js";
import {
  chunksOf,
  countOf,
  coveredFrom,
  daysOf,
  halvesOf,
  type PointRange,
  readPoints,
} from "../../../src/ingest/prometheus/points.js";
import fc from "../../property.js";

function listed({ first, last, stepSeconds }: PointRange): number[] {
  const points: number[] = [];
  for (let point = first; point <= last; point += stepSeconds) points.push(point);
  return points;
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 16);
}

const dividers = Array.from({ length: DAY_SECONDS }, (_, index) => index + 1).filter(
  (step) => DAY_SECONDS % step === 0,
);
const windows = fc
  .tuple(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 1, max: 40 }))
  .map(([start, days]) => ({
    start: addDays("1970-01-01", start),
    end: addDays("1970-01-01", start + days),
  }));
const coarseSteps = fc.constantFrom(...dividers.filter((step) => step >= 300));

t.test("a day at a step of an hour is the points 01:00 to 24:00", async (t) => {
  const range = readPoints({ start: "2026-01-01", end: "2026-01-02" }, 3600);
  t.equal(countOf(range), 24);
  t.equal(new Date(range.first * 1000).toISOString(), "2026-01-01T01:00:00.000Z");
  t.equal(new Date(range.last * 1000).toISOString(), "2026-01-02T00:00:00.000Z");
  t.same(daysOf(range), ["2026-01-01"]);
});

t.test("the steps of a window's points cover it once, however it is split", async (t) => {
  fc.assert(
    fc.property(windows, coarseSteps, fc.integer({ min: 1, max: 500 }), (window, step, most) => {
      const whole = readPoints(window, step);
      const days = new Set(daysOfWindow(window));
      const chunks = [...chunksOf(whole, most)];
      const points = chunks.flatMap(listed);
      const spans = points.map((point) => [coveredFrom(point, step), point] as const);
      const joined = spans.every(
        ([from], index) => from === (spans[index - 1]?.[1] ?? midnightSeconds(window.start)),
      );
      return (
        joined &&
        points.at(-1) === midnightSeconds(window.end) &&
        chunks.every((chunk) => countOf(chunk) <= most) &&
        points.every((point) => days.has(dayOfSeconds(coveredFrom(point, step))))
      );
    }),
    { numRuns: 300 },
  );
  t.pass("held");
});

t.test("pieces are whole days if a day fits, else as many points as allowed", async (t) => {
  const sixHours = 21_600;
  const fourDays = readPoints({ start: "2026-01-01", end: "2026-01-05" }, sixHours);
  const pieces = (most: number) =>
    [...chunksOf(fourDays, most)].map(({ first, last }) => [isoTime(first), isoTime(last)]);
  // Ten points are two days and a half.
  t.strictSame(pieces(10), [
    ["2026-01-01T06:00", "2026-01-03T00:00"],
    ["2026-01-03T06:00", "2026-01-05T00:00"],
  ]);
  t.strictSame(pieces(15), [
    ["2026-01-01T06:00", "2026-01-04T00:00"],
    ["2026-01-04T06:00", "2026-01-05T00:00"],
  ]);
  t.strictSame(
    [...chunksOf(fourDays, 3)].map((piece) => countOf(piece)),
    [3, 3, 3, 3, 3, 1],
  );
});

t.test(
  "repeated halves cover the whole range down to single points, and are split at midnight first",
  async (t) => {
    const leaves = (range: PointRange): PointRange[] => halvesOf(range)?.flatMap(leaves) ?? [range];
    fc.assert(
      fc.property(windows, fc.constantFrom(3600, 7200, 21_600, DAY_SECONDS), (window, step) => {
        const whole = readPoints(window, step);
        const halves = halvesOf(whole) ?? [];
        const partedAtMidnight =
          daysOf(whole).length === 1 || halves[0]?.last === undefined || halves[0].last % DAY_SECONDS === 0;
        const ends = leaves(whole);
        return (
          partedAtMidnight &&
          ends.every((range) => countOf(range) === 1) &&
          ends.map((range) => range.first).join() === listed(whole).join()
        );
      }),
      { numRuns: 100 },
    );
    t.pass("held");
  },
);

t.test("the days of a range are those of its steps", async (t) => {
  fc.assert(
    fc.property(windows, coarseSteps, (window, step) => {
      const whole = readPoints(window, step);
      const expected = [...new Set(listed(whole).map((point) => dayOfSeconds(coveredFrom(point, step))))];
      return daysOf(whole).join() === expected.join() && expected.join() === daysOfWindow(window).join();
    }),
    { numRuns: 200 },
  );
  t.pass("held");
});

t.test("a step that does not divide a day, or a window without days, is refused", async (t) => {
  for (const step of [0, -3600, 7000, 0.5, 172_800]) {
    t.throws(() => readPoints({ start: "2026-01-01", end: "2026-01-02" }, step), RangeError, String(step));
  }
  t.throws(() => readPoints({ start: "2026-01-02", end: "2026-01-02" }, 3600), RangeError);
});

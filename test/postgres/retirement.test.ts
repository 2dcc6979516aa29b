/** A newer delivery replaces parts of older ones. */
import t from "tap";
import {
  type PeriodOfLines,
  replacesWhole,
  retirement,
  type UncountedLines,
} from "../../src/postgres/retirement.js";

const part = (period: string, first = "01", last = "28", account = "payer"): PeriodOfLines => {
  const day = (of: string) => (period === "" ? null : `${period}-${of}`);
  return { account, period, first_day: day(first), last_day: day(last) };
};
const gone = (period: string, from = "01", to = "28", account = "payer"): UncountedLines => {
  return { account, period, from: `${period}-${from}`, to: `${period}-${to}`, files: null };
};
const rolling = (...periods: PeriodOfLines[]) => ({ billing_period: null, periods });
const old = (periods: readonly PeriodOfLines[] | null, retired: readonly UncountedLines[] = []) => ({
  periods,
  retired,
});

t.test("a delivery without a month replaces the periods that it contains", async (t) => {
  const october = old([part("2026-10")]);
  t.strictSame(retirement(october, rolling(part("2026-11"))), [], "the next month replaces nothing");
  t.equal(retirement(october, rolling(part("2026-10"), part("2026-11"))), undefined);
  t.strictSame(
    retirement(old([part("2026-09"), part("2026-10")]), rolling(part("2026-10"))),
    [gone("2026-10")],
    "the month before stays",
  );
  t.strictSame(retirement(october, rolling()), [], "a file without lines replaces nothing");
});

t.test("a period of another account stays", async (t) => {
  const both = old([part("2026-10"), part("2026-10", "01", "28", "other")]);
  t.strictSame(retirement(both, rolling(part("2026-10"))), [gone("2026-10")]);
});

t.test("days outside of a rolling window stay, and are replaced when they are delivered again", async (t) => {
  const october = old([part("2026-10")]);
  const later = retirement(october, rolling(part("2026-10", "03", "28")));
  t.strictSame(later, [gone("2026-10", "03", "28")]);
  const rest = old([part("2026-10")], later);
  t.strictSame(retirement(rest, rolling(part("2026-10", "02", "02")))?.length, 2, "the first day stays");
  t.equal(
    retirement(rest, rolling(part("2026-10", "01", "02"))),
    undefined,
    "two periods side by side leave nothing",
  );
});

t.test("a named month is replaced completely by a delivery with lines of that month", async (t) => {
  const named = (...periods: PeriodOfLines[]) => ({ billing_period: "2026-10", periods });
  const october = old([part("2026-10"), part("2026-09", "28", "28")]);
  t.equal(retirement(october, named(part("2026-10", "05", "28"))), undefined);
  t.strictSame(retirement(october, named(part("2026-11"))), [], "the lines decide, and not the name");
  t.strictSame([replacesWhole(named()), replacesWhole(named(part("2026-11")))], [true, false]);
});

t.test("lines without a date are retired with the last of the others", async (t) => {
  t.equal(retirement(old([part("2026-10"), part("")]), rolling(part("2026-10"))), undefined);
  t.strictSame(retirement(old([part("2026-10"), part("")]), rolling(part("2026-11"), part(""))), []);
});

t.test("a delivery without recorded periods is replaced completely", async (t) => {
  t.equal(retirement(old(null), rolling(part("2026-11"))), undefined);
});

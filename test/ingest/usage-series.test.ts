/** Amounts by step, added up in whatever order they come. */
import t from "tap";
import { type MicroAmount, microAmount } from "../../src/ingest/micro-units.js";
import { addAmount, factsOf, inWholeUnits, noAmounts } from "../../src/ingest/usage-series.js";
import fc from "../property.js";
import { Classes } from "./classes.js";

const classes = ["in order", "out of order", "a step again"] as const;

t.test("each step has the sum of its amounts, and steps are ascending", async (t) => {
  const met = new Classes<(typeof classes)[number]>();
  const added = fc.array(fc.tuple(fc.nat(20), fc.nat(1000)), { maxLength: 30 });
  fc.assert(
    fc.property(added, (list) => {
      const amounts = noAmounts();
      const wanted = new Map<number, MicroAmount>();
      for (const [start, amount] of list) {
        const last = amounts.starts.at(-1);
        met.met(wanted.has(start) ? "a step again" : start > (last ?? -1) ? "in order" : "out of order");
        addAmount(amounts, start, amount);
        wanted.set(start, Number(wanted.get(start) ?? 0) + amount);
      }
      const ascending = [...wanted].sort(([a], [b]) => a - b);
      t.strictSame(
        amounts.starts.map((start, at) => [start, amounts.amounts[at]]),
        ascending,
      );
    }),
    { numRuns: 300 },
  );
  t.same(met.missing(classes, 10), []);
});

t.test("series are converted to facts", async (t) => {
  const whose = { metric: "m", resource_id: "c", identity_id: "i" };
  const starts = [1_767_225_600, 1_767_229_200];
  t.strictSame(
    factsOf([
      { ...whose, scale: 0, starts, microUnits: [5, 2n ** 64n] },
      { ...whose, scale: 9, starts: [starts[0] ?? 0], microUnits: [7] },
    ]),
    [
      { ...whose, timestamp: "2026-01-01T00:00:00Z", micro_units: "5" },
      { ...whose, timestamp: "2026-01-01T01:00:00Z", micro_units: "18446744073709551616" },
      { ...whose, timestamp: "2026-01-01T00:00:00Z", micro_units: "7", scale: "9" },
    ],
  );
});

const DAY = 86_400;

t.test("whatever the unit is, the parts of a day keep nine digits of the largest weight", async (t) => {
  const met = new Classes<string>();
  const size = fc.integer({ min: -40, max: 20 });
  const drawn = fc.tuple(
    size,
    fc.array(
      fc.record({ who: fc.nat(4), hour: fc.nat(47), part: fc.double({ min: 0.0001, max: 1, noNaN: true }) }),
      {
        minLength: 2,
        maxLength: 40,
      },
    ),
  );
  fc.assert(
    fc.property(drawn, ([exponent, samples]) => {
      const series = new Map<number, ReturnType<typeof noAmounts>>();
      const wanted = new Map<string, number>();
      for (const { who, hour, part } of samples) {
        const value = part * 10 ** exponent;
        const amounts = series.get(who) ?? noAmounts();
        series.set(who, amounts);
        addAmount(amounts, hour * 3600, microAmount(String(value)) ?? 0);
        const key = `${Math.floor((hour * 3600) / DAY)} ${who}`;
        wanted.set(key, (wanted.get(key) ?? 0) + value);
      }
      const whole = inWholeUnits(
        [...series].map(([who, amounts]) => ({
          metric: "m",
          resource_id: "r",
          identity_id: `${who}`,
          ...amounts,
        })),
      );
      const weights = new Map<string, number>();
      const scales = new Map<string, Set<number>>();
      for (const { identity_id, scale, starts, microUnits } of whole)
        for (const [at, start] of starts.entries()) {
          const day = `${Math.floor(start / DAY)}`;
          scales.set(day, (scales.get(day) ?? new Set()).add(scale));
          const key = `${day} ${identity_id}`;
          weights.set(key, (weights.get(key) ?? 0) + Number(microUnits[at]) / 10 ** (6 + scale));
        }
      for (const [day, used] of scales) {
        if (used.size > 1) throw new Error(`day ${day} has the units ${[...used].join(" and ")}`);
        const ofDay = [...wanted].filter(([key]) => key.startsWith(`${day} `));
        const largest = Math.max(...ofDay.map(([, weight]) => weight));
        for (const [key, weight] of ofDay)
          if (Math.abs((weights.get(key) ?? 0) - weight) > largest * 1e-9)
            throw new Error(`${key}: ${weights.get(key)} and not ${weight}`);
        met.met(used.has(0) ? "millionths" : "finer");
        met.met(exponent < -6 ? "below a millionth" : exponent > 6 ? "above a million" : "between");
      }
    }),
    { numRuns: 1000 },
  );
  t.strictSame(
    met.missing(["millionths", "finer", "below a millionth", "above a million", "between"], 50),
    [],
  );
});

/** Exact decimals lose no digit before the one rounding that is requested. */
import t from "tap";
import {
  compare,
  decimalText,
  exact,
  exactText,
  minus,
  parseExact,
  plus,
  roundedQuotient,
  sumOf,
  times,
} from "../../src/common/exact-decimal.js";
import fc from "../property.js";

/** Reads a text, and returns it with this many places. */
const round = (text: string, places = 12) => {
  const value = parseExact(text);
  return value === undefined ? undefined : decimalText(roundedQuotient(value, 1n, places), places);
};

t.test("texts of numbers", async (t) => {
  const cases: [string, string | undefined][] = [
    ["0", "0"],
    ["-0", "0"],
    ["12", "12"],
    ["+12.50", "12.5"],
    [".5", "0.5"],
    ["5.", "5"],
    ["1.5e+10", "15000000000"],
    ["1.5E-3", "0.0015"],
    ["1e-9", "0.000000001"],
    ["-2.5e1", "-25"],
    ["0.1", "0.1"],
    ["9007199254740993", "9007199254740993"],
    ["0.0000000000005", "0.000000000001"],
    ["-0.0000000000005", "-0.000000000001"],
    ["0.0000000000004999", "0"],
    ["NaN", undefined],
    ["+Inf", undefined],
    ["-Inf", undefined],
    ["", undefined],
    [".", undefined],
    ["e5", undefined],
    ["1e", undefined],
    ["0x10", undefined],
    ["1_000", undefined],
    ["1,5", undefined],
    [" 1", undefined],
    ["1e401", undefined],
    ["1e99999", undefined],
    ["1".repeat(1201), undefined],
  ];
  for (const [text, wanted] of cases) t.equal(round(text), wanted, JSON.stringify(text.slice(0, 30)));
});

t.test("every finite 64-bit float has an exact text, and comes back from it", async (t) => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      const value = parseExact(String(number));
      if (value === undefined) return false;
      return Number(decimalText(value.units, value.scale)) === number;
    }),
    { numRuns: 2000 },
  );
  t.pass("held");
});

const decimals = fc.tuple(fc.bigInt(-(10n ** 25n), 10n ** 25n), fc.integer({ min: 0, max: 30 }));

t.test("sums and products are those of integers", async (t) => {
  fc.assert(
    fc.property(decimals, decimals, ([units, scale], [others, otherScale]) => {
      const a = { units, scale };
      const b = { units: others, scale: otherScale };
      const sum = plus(a, b);
      const product = times(a, b);
      const wide = (value: typeof a) => value.units * 10n ** BigInt(100 - value.scale);
      return wide(sum) === wide(a) + wide(b) && wide(product) * 10n ** 100n === wide(a) * wide(b);
    }),
  );
  t.pass("held");
});

t.test("sums and differences of several amounts are exact, and are in order", async (t) => {
  const ticks = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n });
  const amount = fc.record({ units: ticks, scale: fc.integer({ min: 0, max: 12 }) });
  fc.assert(
    fc.property(amount, fc.array(amount, { maxLength: 7 }), (first, others) => {
      const ticksOf = ({ units, scale }: typeof first) => units * 10n ** BigInt(12 - scale);
      const values = [first, ...others];
      const wanted = values.reduce((sum, value) => sum + ticksOf(value), 0n);
      const rest = wanted - ticksOf(first);
      t.equal(exactText(sumOf(values)), decimalText(wanted, 12));
      t.equal(exactText(minus(sumOf(values), first)), decimalText(rest, 12));
      t.equal(compare(sumOf(values), first), rest < 0n ? -1 : rest > 0n ? 1 : 0);
    }),
    { numRuns: 100 },
  );
});

t.test("an amount is written as it was parsed, without trailing zeros", async (t) => {
  for (const [text, wanted] of [
    ["-0.000000000001", "-0.000000000001"],
    ["0.05", "0.05"],
    ["10.500", "10.5"],
    ["100", "100"],
    ["123456789012345678901234.123456789012", "123456789012345678901234.123456789012"],
  ] as const)
    t.equal(exactText(exact(text)), wanted);
  t.throws(() => exact("1,000"), new TypeError("no number: 1,000"));
});

t.test("rounding is to the nearest, halves away from zero", async (t) => {
  fc.assert(
    fc.property(
      decimals,
      fc.bigInt(1n, 10n ** 20n),
      fc.integer({ min: 0, max: 12 }),
      ([units, scale], divisor, places) => {
        const ticks = roundedQuotient({ units, scale }, divisor, places);
        const wanted = units * 10n ** BigInt(places);
        const whole = divisor * 10n ** BigInt(scale);
        const off = 2n * (ticks * whole - wanted);
        const size = (value: bigint) => (value < 0n ? -value : value);
        const isHalf = size(off) === whole;
        return size(off) < whole || (isHalf && size(ticks * whole) > size(wanted));
      },
    ),
  );
  t.throws(() => roundedQuotient({ units: 1n, scale: 0 }, 0n, 12), RangeError);
});

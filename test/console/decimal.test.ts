/** Amounts of the console are exact from the response to the screen. */
import t from "tap";
import {
  absolute,
  compare,
  decimal,
  grouped,
  minus,
  percentage,
  plainText,
  shownAmount,
  sumOf,
} from "../../src/console/money/decimal.js";
import fc from "../property.js";

const plain = (text: string) => plainText(decimal(text));

t.test("an amount is written as it was parsed, without trailing zeros", async (t) => {
  for (const [text, wanted] of [
    ["0", "0"],
    ["-0.000000000001", "-0.000000000001"],
    ["0.05", "0.05"],
    ["10.500", "10.5"],
    ["100", "100"],
    ["123456789012345678901234.123456789012", "123456789012345678901234.123456789012"],
  ] as const)
    t.equal(plain(text), wanted);
  for (const text of ["", "1e5", "1.", ".5", "+1", "1,000", "--1"])
    t.throws(() => decimal(text), RangeError, text);
});

t.test("sums and differences of any amounts are exact", async (t) => {
  const ticks = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n });
  const places = fc.integer({ min: 0, max: 12 });
  const amount = fc.tuple(ticks, places);
  const ofTicks = (units: bigint, scale: number) => units * 10n ** BigInt(12 - scale);
  fc.assert(
    fc.property(fc.array(amount, { minLength: 1, maxLength: 8 }), (amounts) => {
      const values = amounts.map(([units, scale]) => ({ units, scale }));
      const wanted = amounts.reduce((sum, [units, scale]) => sum + ofTicks(units, scale), 0n);
      t.equal(plainText(sumOf(values)), plainText({ units: wanted, scale: 12 }));
      const [[first, scale]] = amounts as [[bigint, number]];
      const rest = minus(sumOf(values), { units: first, scale });
      t.equal(plainText(rest), plainText({ units: wanted - ofTicks(first, scale), scale: 12 }));
      const order = compare(sumOf(values), { units: first, scale });
      const difference = wanted - ofTicks(first, scale);
      t.equal(order, difference < 0n ? -1 : difference > 0n ? 1 : 0);
      return t.passing();
    }),
    { numRuns: 100 },
  );
});

t.test("an amount is shown with two decimal places, and further places apart", async (t) => {
  for (const [text, main, beyond] of [
    ["1234567.5", "1,234,567.50", ""],
    ["-1000", "−1,000.00", ""],
    ["0.999999999999", "0.99", "9999999999"],
    ["-0.001", "−0.00", "1"],
  ] as const)
    t.strictSame(shownAmount(decimal(text)), { main, beyond });
  t.equal(grouped("999"), "999");
  t.equal(grouped("1000.25"), "1,000.25");
  t.equal(plainText(absolute(decimal("-7.25"))), "7.25");
});

t.test("a percentage below ten has one decimal place, others have none", async (t) => {
  const percent = (part: string, whole: string) => percentage(decimal(part), decimal(whole));
  t.equal(percent("1", "3"), "33 %");
  t.equal(percent("1", "30"), "3.3 %");
  t.equal(percent("-1", "30"), "−3.3 %");
  t.equal(percent("5", "0"), undefined);
});

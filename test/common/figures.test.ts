/** Exact numbers as short texts. */
import t from "tap";
import { compare, exact, minus } from "../../src/common/exact-decimal.js";
import {
  groupDigits,
  moneyOf,
  partText,
  placesOf,
  roundedText,
  shareText,
} from "../../src/common/figures.js";
import fc from "../property.js";

t.test("an amount has the decimal places of its currency", async (t) => {
  for (const [amount, currency, text] of [
    ["1234567.5", "USD", "1,234,567.50"],
    ["-1000", "EUR", "−1,000.00"],
    ["21.945", "USD", "21.95"],
    ["-21.945", "USD", "−21.95"],
    ["0.999999999999", "USD", "1.00"],
    ["0.005", "USD", "0.01"],
    ["0.0049", "USD", "< 0.01"],
    ["-0.0049", "USD", "> −0.01"],
    ["0", "USD", "0.00"],
    ["1234.5", "JPY", "1,235"],
    ["0.4", "JPY", "< 1"],
    ["1.2345", "KWD", "1.235"],
    ["0.0004", "KWD", "< 0.001"],
    ["1.236", "credits", "1.24"],
    ["1.236", "", "1.24"],
  ] as const)
    t.equal(moneyOf(amount, currency), text, `${amount} ${currency}`);
  t.strictSame(["USD", "JPY", "KWD", "XYZ", "usd"].map(placesOf), [2, 0, 3, 2, 2]);
});

t.test("a rounded number differs from the exact one by at most half of its last place", async () => {
  const decimals = fc.record({
    units: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
    scale: fc.integer({ min: 0, max: 12 }),
  });
  fc.assert(
    fc.property(decimals, fc.integer({ min: 0, max: 3 }), (value, places) => {
      const text = roundedText(value, places);
      if (/[<>]/.test(text)) return value.units !== 0n;
      const shown = exact(text.replaceAll(",", "").replace("−", "-"));
      const off = minus(value, shown);
      const half = { units: 5n, scale: places + 1 };
      return compare(off, half) <= 0 && compare({ ...off, units: -off.units }, half) <= 0;
    }),
  );
});

t.test("a share has one decimal place, and a part is neither nothing nor all", async (t) => {
  const texts = ["0", "0.0004", "0.398", "0.9994", "0.9999", "1"].map((share) => shareText(exact(share)));
  t.strictSame(texts, ["0.0 %", "< 0.1 %", "39.8 %", "99.9 %", "> 99.9 %", "100.0 %"]);
});

t.test("both numbers of a part have the same unit and three significant digits of the whole", async (t) => {
  for (const [part, whole, isBytes, text] of [
    ["10030000000", "25201005025", true, "10.0 of 25.2 GB"],
    ["999", "1000", true, "1.00 of 1.00 kB"],
    ["7", "999", true, "7 of 999 bytes"],
    ["1", "123456789012345678901", true, "< 1 of 123 EB"],
    ["5", "5", true, "5 bytes"],
    ["3240", "10800", false, "3,240 of 10,800"],
    ["0.25", "2.5", false, "0.25 of 2.50"],
    ["3481135326", "182040911190", false, "3 of 182 billion"],
  ] as const)
    t.equal(partText(exact(part), exact(whole), isBytes), text);
});

t.test("thousands are separated", async (t) => {
  t.strictSame(["999", "1000.25", "-1234567"].map(groupDigits), ["999", "1,000.25", "-1,234,567"]);
});

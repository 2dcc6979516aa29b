/**
 * Amounts of samples: the fast path returns the same as the exact path for any text, and no significant digit is lost.
 */
import t from "tap";
import { type Exact, parseExact, plus, roundedQuotient } from "../../src/common/exact-decimal.js";
import {
  amountAt,
  isTooLarge,
  type MicroAmount,
  microAmount,
  plusAmounts,
  unitsAt,
} from "../../src/ingest/micro-units.js";
import fc from "../property.js";
import { Classes } from "./classes.js";

/** Parses the text within other bytes that would change it. */
function readAt(text: string) {
  return amountAt(Buffer.from(`9.9${text}9.9`, "latin1"), 3, 3 + text.length);
}

t.test("texts of samples are parsed", async (t) => {
  const cases: [string, MicroAmount | undefined][] = [
    ["0", 0],
    ["0.0", 0],
    ["-0", 0],
    ["12", 12_000_000],
    ["007", 7_000_000],
    ["0.5", 500_000],
    [".5", 500_000],
    ["5.", 5_000_000],
    ["1.2345670", 1_234_567],
    ["0.0000000", 0],
    ["1.2345674", { units: 12_345_674n, scale: 7 }],
    ["0.00000049", { units: 49n, scale: 8 }],
    ["4.5e-7", { units: 45n, scale: 8 }],
    ["5e-324", { units: 5n, scale: 324 }],
    ["999999.9999999", { units: 9_999_999_999_999n, scale: 7 }],
    ["1000000.0000004", 1_000_000_000_000],
    ["1000000.0000005", 1_000_000_000_001],
    ["1234567.9999999", 1_234_568_000_000],
    ["12345678.0000000", 12_345_678_000_000],
    ["1.5e+10", 15_000_000_000_000_000n],
    ["9007199254.740991", 9_007_199_254_740_991],
    ["9007199254.740992", 9_007_199_254_740_992n],
    ["12345678901234567890", 12_345_678_901_234_567_890_000_000n],
    ["-1", undefined],
    ["-0.0000001", undefined],
    ["NaN", undefined],
    ["+Inf", undefined],
    ["", undefined],
    [".", undefined],
    ["1.2.3", undefined],
    ["1,5", undefined],
    [" 1", undefined],
    ["1 ", undefined],
    ["0x1", undefined],
    [`0.${"0".repeat(1300)}`, undefined],
  ];
  for (const [text, wanted] of cases) {
    t.strictSame(microAmount(text), wanted, text.slice(0, 30));
    t.strictSame(readAt(text), wanted, `${text.slice(0, 30)}, in bytes`);
  }
});

const digits = (most: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: most });
const nines = fc.integer({ min: 1, max: 12 }).map((count) => "9".repeat(count));
const sampleTexts = fc.oneof(
  digits(12),
  digits(24),
  fc.tuple(digits(11), digits(12)).map((parts) => parts.join(".")),
  fc.tuple(digits(11), nines).map((parts) => parts.join(".")),
  fc.tuple(digits(24), digits(24)).map((parts) => parts.join(".")),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(String),
  fc.double().map(String),
  fc.string({ unit: fc.constantFrom(..."0123456789.eE+-Na "), maxLength: 8 }),
);

const classes = [
  "whole",
  "fraction",
  "rounded up",
  "carried into the whole part",
  "beyond 2^53",
  "leading zero",
  "exponent",
  "negative",
  "no number",
  "kept exactly",
] as const;

function classesOf(text: string): (typeof classes)[number][] {
  const value = parseExact(text);
  if (value === undefined) return ["no number"];
  if (value.units < 0n) return ["negative"];
  const units = roundedQuotient(value, 1n, 6);
  const [whole = "", fraction = ""] = text.split(".");
  const roundedUp = units >= 10n ** 12n && /^\d+\.\d{6}[5-9]\d*$/.test(text);
  return [
    ...(/^\d+$/.test(text) ? ["whole" as const] : []),
    ...(/^\d+\.\d+$/.test(text) ? ["fraction" as const] : []),
    ...(roundedUp ? ["rounded up" as const] : []),
    ...(roundedUp && fraction.startsWith("999999") ? ["carried into the whole part" as const] : []),
    ...(units > 2n ** 53n ? ["beyond 2^53" as const] : []),
    ...(/^0\d/.test(whole) ? ["leading zero" as const] : []),
    ...(/e/i.test(text) ? ["exponent" as const] : []),
    ...(typeof microAmount(text) === "object" ? ["kept exactly" as const] : []),
  ];
}

const isBelowAMillion = ({ units, scale }: Exact) => units < 10n ** BigInt(6 + scale);
const isWholeMillionths = ({ units, scale }: Exact) => (units * 10n ** 6n) % 10n ** BigInt(scale) === 0n;

t.test("the fast path and the exact path agree", async (t) => {
  const met = new Classes<(typeof classes)[number]>();
  fc.assert(
    fc.property(sampleTexts, (text) => {
      for (const name of classesOf(text)) met.met(name);
      const value = parseExact(text);
      const read = readAt(text);
      t.strictSame(read, microAmount(text));
      if (value === undefined || value.units < 0n) return read === undefined;
      if (typeof read === "object") return isBelowAMillion(value) && !isWholeMillionths(value);
      const exact = roundedQuotient(value, 1n, 6);
      return (
        (isWholeMillionths(value) || !isBelowAMillion(value)) &&
        read === (exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : exact)
      );
    }),
    { numRuns: 5000 },
  );
  t.same(met.missing(classes, 10), [], "every kind of text occurred");
});

t.test("sums are those of integers", async (t) => {
  const amounts = fc
    .oneof(fc.bigInt(0n, 2n ** 54n), fc.bigInt(2n ** 53n - 3n, 2n ** 53n + 3n), fc.bigInt(0n, 10n ** 30n))
    .map((units) => (units <= Number.MAX_SAFE_INTEGER ? Number(units) : units));
  const met = new Classes<string>();
  fc.assert(
    fc.property(amounts, amounts, (a, b) => {
      const sum = plusAmounts(a, b);
      met.met(`${typeof a} + ${typeof b} = ${typeof sum}`);
      if (typeof sum === "object") throw new Error("whole numbers have a whole sum");
      return BigInt(sum) === BigInt(a) + BigInt(b) && (typeof sum === "bigint" || Number.isSafeInteger(sum));
    }),
    { numRuns: 2000 },
  );
  const kinds = ["number + number = number", "number + number = bigint", "bigint + bigint = bigint"];
  t.same(met.missing(kinds, 10), []);
});

t.test("a sum with fine amounts is exact, in any order", async (t) => {
  const texts = ["0.1", "0.0000000001", "3", "12345678901234567890", "4.5e-7", "0.30000000000000004"];
  const wanted = texts.map((text) => parseExact(text) ?? { units: -1n, scale: 0 }).reduce(plus);
  for (const order of [texts, [...texts].reverse()]) {
    const sum = order.map((text) => microAmount(text) ?? 0).reduce(plusAmounts);
    t.equal(unitsAt(sum, 30), roundedQuotient(wanted, 1n, 36));
  }
});

t.test("10^24 units are the largest usage", async (t) => {
  t.notOk(isTooLarge(10n ** 30n));
  t.ok(isTooLarge(10n ** 30n + 1n));
  t.ok(isTooLarge({ units: 10n ** 30n + 1n, scale: 6 }));
  t.notOk(isTooLarge({ units: 1n, scale: 9 }));
  t.notOk(isTooLarge(Number.MAX_SAFE_INTEGER));
});

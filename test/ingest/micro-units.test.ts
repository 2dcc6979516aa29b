/** Micro-units: the quick way of reading them gives what the exact way gives, whatever the text. */
import t from "tap";
import { isTooLarge, microUnits, microUnitsAt, plusMicroUnits } from "../../src/ingest/micro-units.js";
import { parseExact, roundedQuotient } from "../../src/numbers/exact.js";
import fc from "../property.js";
import { Classes } from "./classes.js";

/** Read from the middle of bytes that would change it. */
function readAt(text: string) {
  return microUnitsAt(Buffer.from(`9.9${text}9.9`, "latin1"), 3, 3 + text.length);
}

t.test("texts of samples", async (t) => {
  const cases: [string, number | bigint | undefined][] = [
    ["0", 0],
    ["0.0", 0],
    ["-0", 0],
    ["12", 12_000_000],
    ["007", 7_000_000],
    ["0.5", 500_000],
    [".5", 500_000],
    ["5.", 5_000_000],
    ["1.2345674", 1_234_567],
    ["1.2345675", 1_234_568],
    ["1.23456749999", 1_234_567],
    ["0.0000005", 1],
    ["0.00000049", 0],
    ["9.9999995", 10_000_000],
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
    t.equal(microUnits(text), wanted, text.slice(0, 30));
    t.equal(readAt(text), wanted, `${text.slice(0, 30)}, in bytes`);
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
] as const;

function classesOf(text: string): (typeof classes)[number][] {
  const value = parseExact(text);
  if (value === undefined) return ["no number"];
  if (value.units < 0n) return ["negative"];
  const units = roundedQuotient(value, 1n, 6);
  const [whole = "", fraction = ""] = text.split(".");
  const roundedUp = /^\d+\.\d{6}[5-9]\d*$/.test(text);
  return [
    ...(/^\d+$/.test(text) ? ["whole" as const] : []),
    ...(/^\d+\.\d+$/.test(text) ? ["fraction" as const] : []),
    ...(roundedUp ? ["rounded up" as const] : []),
    ...(roundedUp && fraction.startsWith("999999") ? ["carried into the whole part" as const] : []),
    ...(units > 2n ** 53n ? ["beyond 2^53" as const] : []),
    ...(/^0\d/.test(whole) ? ["leading zero" as const] : []),
    ...(/e/i.test(text) ? ["exponent" as const] : []),
  ];
}

t.test("the quick way is the exact way", async (t) => {
  const met = new Classes<(typeof classes)[number]>();
  fc.assert(
    fc.property(sampleTexts, (text) => {
      for (const name of classesOf(text)) met.met(name);
      const value = parseExact(text);
      const exact = value === undefined || value.units < 0n ? undefined : roundedQuotient(value, 1n, 6);
      const read = readAt(text);
      const isNumber = exact !== undefined && exact <= BigInt(Number.MAX_SAFE_INTEGER);
      return (
        read === microUnits(text) &&
        (exact === undefined ? read === undefined : read === (isNumber ? Number(exact) : exact))
      );
    }),
    { numRuns: 5000 },
  );
  t.same(met.missing(classes, 10), [], "every kind of text was among them");
});

t.test("sums are those of integers", async (t) => {
  const amounts = fc
    .oneof(fc.bigInt(0n, 2n ** 54n), fc.bigInt(2n ** 53n - 3n, 2n ** 53n + 3n), fc.bigInt(0n, 10n ** 30n))
    .map((units) => (units <= Number.MAX_SAFE_INTEGER ? Number(units) : units));
  const met = new Classes<string>();
  fc.assert(
    fc.property(amounts, amounts, (a, b) => {
      const sum = plusMicroUnits(a, b);
      met.met(`${typeof a} + ${typeof b} = ${typeof sum}`);
      return BigInt(sum) === BigInt(a) + BigInt(b) && (typeof sum === "bigint" || Number.isSafeInteger(sum));
    }),
    { numRuns: 2000 },
  );
  const kinds = ["number + number = number", "number + number = bigint", "bigint + bigint = bigint"];
  t.same(met.missing(kinds, 10), []);
});

t.test("10^24 units are a usage, and no more", async (t) => {
  t.notOk(isTooLarge(10n ** 30n));
  t.ok(isTooLarge(10n ** 30n + 1n));
  t.notOk(isTooLarge(Number.MAX_SAFE_INTEGER));
});

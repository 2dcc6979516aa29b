/**
 * Quantities as samples state them. Most are whole millionths of their unit, or so large that a millionth does not
 * matter. These are plain numbers, which are fast. The others keep all their digits, because a unit can be so large
 * that all usage is below a millionth of it.
 */
import { type Exact, parseExact, plus, roundedQuotient } from "../common/exact-decimal.js";

/** A number if it is exact, as nearly all are, and a bigint above 2^53. Never negative. */
export type MicroUnits = number | bigint;

/** `Exact` if millionths are too coarse. Never negative. */
export type MicroAmount = MicroUnits | Exact;

const PLACES = 6;
const ONE = 10 ** PLACES;
/** From this many units on, a millionth is at most the twelfth digit. */
const COARSE_FROM = 1e6;
/** 10^24 of a unit, a septillion. A larger sample is broken, and a split of 128-bit integers could overflow. */
const LARGEST_UNITS = 10n ** 24n;

/** Parses the text of a sample. Undefined if it is negative, or not a number that `parseExact` knows. */
export function microAmount(text: string): MicroAmount | undefined {
  const value = parseExact(text);
  if (value === undefined || value.units < 0n) return undefined;
  const isCoarse = value.units >= BigInt(COARSE_FROM) * 10n ** BigInt(value.scale);
  const beyond = BigInt(Math.max(0, value.scale - PLACES));
  if (!isCoarse && value.units % 10n ** beyond !== 0n) return value;
  return safe(roundedQuotient(value, 1n, PLACES));
}

/** Same as `microAmount`, for a part of ASCII bytes. */
export function amountAt(bytes: Buffer, from: number, to: number): MicroAmount | undefined {
  return parsePlainDecimal(bytes, from, to) ?? microAmount(bytes.toString("latin1", from, to));
}

/** Returns a number if it is exact. */
function safe(units: bigint): MicroUnits {
  return units <= Number.MAX_SAFE_INTEGER ? Number(units) : units;
}

const ZERO = 48;
const POINT = 46;
/** Enough for all digits of a float. Longer texts are rare. */
const LONGEST_PLAIN = 40;
/** Whole units whose millionths, and a fraction, a number counts exactly. */
const MOST_WHOLE = Math.floor(Number.MAX_SAFE_INTEGER / ONE) - 1;

/**
 * Fast path for digits, perhaps with a point and a few more digits, as nearly all samples are. It takes a tenth of the
 * time. Undefined for other texts.
 */
function parsePlainDecimal(bytes: Buffer, from: number, to: number): number | undefined {
  if (to - from > LONGEST_PLAIN) return undefined;
  let at = from;
  let whole = 0;
  for (; at < to; at += 1) {
    const digit = digitAt(bytes, at);
    if (digit < 0 || digit > 9) break;
    whole = 10 * whole + digit;
  }
  if (at === from || whole > MOST_WHOLE) return undefined;
  if (at === to) return ONE * whole;
  if (bytes[at] !== POINT) return undefined;
  let fraction = 0;
  let places = 0;
  for (at += 1; at < to; at += 1) {
    const digit = digitAt(bytes, at);
    if (digit < 0 || digit > 9) return undefined;
    if (places < PLACES) fraction = 10 * fraction + digit;
    else if (digit !== 0 && whole < COARSE_FROM) return undefined;
    else if (places === PLACES && digit >= 5) fraction += 1;
    places += 1;
  }
  for (; places < PLACES; places += 1) fraction *= 10;
  return ONE * whole + fraction;
}

function digitAt(bytes: Buffer, at: number): number {
  return (bytes[at] ?? 0) - ZERO;
}

export function plusAmounts(a: MicroAmount, b: MicroAmount): MicroAmount {
  if (typeof a === "number" && typeof b === "number" && a + b <= Number.MAX_SAFE_INTEGER) return a + b;
  if (typeof a === "object" || typeof b === "object") return plus(exactly(a), exactly(b));
  return BigInt(a) + BigInt(b);
}

function exactly(amount: MicroAmount): Exact {
  return typeof amount === "object" ? amount : { units: BigInt(amount), scale: PLACES };
}

/** Returns whole 10^-(6 + scale) of the unit, rounded half up. */
export function unitsAt(amount: MicroAmount, scale: number): MicroUnits {
  if (scale === 0 && typeof amount !== "object") return amount;
  return safe(roundedQuotient(exactly(amount), 1n, PLACES + scale));
}

/** Returns an approximate amount in units, to compare magnitudes. */
export function roughly(amount: MicroAmount): number {
  return typeof amount === "object" ? Number(amount.units) / 10 ** amount.scale : Number(amount) / ONE;
}

/** Returns true if it is more than a usage can be. */
export function isTooLarge(amount: MicroAmount): boolean {
  if (typeof amount === "number") return false;
  const { units, scale } = exactly(amount);
  return units > LARGEST_UNITS * 10n ** BigInt(scale);
}

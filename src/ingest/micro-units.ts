/**
 * Quantities in whole millionths of their unit: what usage is counted and staged in. Nothing is lost but at the seventh decimal, where each
 * sample is rounded, half up.
 */
import { parseExact, roundedQuotient } from "../numbers/exact.js";

/** A number as far as that is exact, which nearly all are, and a bigint above 2^53. Never negative. */
export type MicroUnits = number | bigint;

const PLACES = 6;
const ONE = 10 ** PLACES;
/** 10^24 of a unit, a septillion: beyond it a sample is broken, and a split of 128-bit integers could overflow. */
const LARGEST = 10n ** 30n;

/** Of a sample's text; undefined when it is negative, or no number that `parseExact` knows. */
export function microUnits(text: string): MicroUnits | undefined {
  const value = parseExact(text);
  if (value === undefined || value.units < 0n) return undefined;
  const units = roundedQuotient(value, 1n, PLACES);
  return units <= Number.MAX_SAFE_INTEGER ? Number(units) : units;
}

/** The same of a text in ASCII, a part of these bytes. */
export function microUnitsAt(bytes: Buffer, from: number, to: number): MicroUnits | undefined {
  return ofPlainDecimal(bytes, from, to) ?? microUnits(bytes.toString("latin1", from, to));
}

const ZERO = 48;
const POINT = 46;
/** All digits of a float have room. A longer text is none that is often met. */
const LONGEST_PLAIN = 40;
/** Whole units whose millionths, and a fraction, a number counts exactly. */
const MOST_WHOLE = Math.floor(Number.MAX_SAFE_INTEGER / ONE) - 1;

/** What nearly all samples are: digits, and perhaps a point with digits behind it. A tenth of the time. Undefined for all else. */
function ofPlainDecimal(bytes: Buffer, from: number, to: number): number | undefined {
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
    else if (places === PLACES && digit >= 5) fraction += 1;
    places += 1;
  }
  for (; places < PLACES; places += 1) fraction *= 10;
  return ONE * whole + fraction;
}

function digitAt(bytes: Buffer, at: number): number {
  return (bytes[at] ?? 0) - ZERO;
}

export function plusMicroUnits(a: MicroUnits, b: MicroUnits): MicroUnits {
  if (typeof a === "number" && typeof b === "number" && a + b <= Number.MAX_SAFE_INTEGER) return a + b;
  return BigInt(a) + BigInt(b);
}

/** Whether it is more than a usage can be. */
export function isTooLarge(units: MicroUnits): boolean {
  return typeof units === "bigint" && units > LARGEST;
}

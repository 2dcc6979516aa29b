/**
 * Exact decimals of any size for samples, rates and costs, because a float loses cents. The server and the console use
 * them.
 *
 * A number is a whole number of units of 10^-scale. Only `roundedQuotient` rounds, once, at the end of a calculation.
 */

export interface Exact {
  readonly units: bigint;
  /** Number of decimal places of the units; 0 or more. */
  readonly scale: number;
}

export const zero: Exact = { units: 0n, scale: 0 };

/** A 64-bit float has exponents from -324 to 308. A text beyond these is no sample, and would only use memory. */
const LARGEST_EXPONENT = 400;
const LONGEST_TEXT = 1200;

/**
 * Parses `"12"`, `"-0.5"`, `"1.5e+10"` or `".5"`. Returns undefined for anything else, including numbers that are not
 * finite.
 */
export function parseExact(text: string): Exact | undefined {
  // Fast path for nearly all samples: a third of the time without the groups of the pattern below.
  if (text.length <= 15 && /^\d+$/.test(text)) return { units: BigInt(text), scale: 0 };
  if (text.length > LONGEST_TEXT) return undefined;
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/.exec(text);
  if (parts === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponentText = "0"] = parts;
  const exponent = Number(exponentText);
  if (whole + fraction === "" || Math.abs(exponent) > LARGEST_EXPONENT) return undefined;
  const magnitude = BigInt(whole + fraction);
  const units = sign === "-" ? -magnitude : magnitude;
  const scale = fraction.length - exponent;
  return scale >= 0 ? { units, scale } : { units: units * tenTo(-scale), scale: 0 };
}

/** Like `parseExact`, but throws `TypeError` for a text that is not a number. */
export function exact(text: string): Exact {
  const value = parseExact(text);
  if (value === undefined) throw new TypeError(`no number: ${text}`);
  return value;
}

export function plus(a: Exact, b: Exact): Exact {
  const scale = Math.max(a.scale, b.scale);
  return { units: a.units * tenTo(scale - a.scale) + b.units * tenTo(scale - b.scale), scale };
}

export function minus(a: Exact, b: Exact): Exact {
  return plus(a, { units: -b.units, scale: b.scale });
}

export function times(a: Exact, b: Exact): Exact {
  return { units: a.units * b.units, scale: a.scale + b.scale };
}

export function sumOf(values: readonly Exact[]): Exact {
  return values.reduce(plus, zero);
}

/** Returns a number below, equal to, or above 0, for `sort`. */
export function compare(a: Exact, b: Exact): number {
  const { units } = minus(a, b);
  return units < 0n ? -1 : units > 0n ? 1 : 0;
}

/** Adds plain decimals. Throws `TypeError` for a text that is not a number. */
export function sumText(texts: readonly string[]): string {
  return exactText(sumOf(texts.map(exact)));
}

/** Returns `from` − `less`, both plain decimals. Throws `TypeError` for a text that is not a number. */
export function differenceText(from: string, less: string): string {
  return exactText(minus(exact(from), exact(less)));
}

/**
 * Returns value / divisor in whole units of 10^-places, rounded half away from zero, as ClickHouse's `round` of a
 * decimal does, so that an amount can be checked in SQL.
 */
export function roundedQuotient(value: Exact, divisor: bigint, places: number): bigint {
  if (divisor <= 0n) throw new RangeError("the divisor must be above 0");
  const numerator = value.units * tenTo(places);
  if (divisor === 1n && value.scale === 0) return numerator;
  const denominator = divisor * tenTo(value.scale);
  const magnitude = numerator < 0n ? -numerator : numerator;
  const rounded = (2n * magnitude + denominator) / (2n * denominator);
  return numerator < 0n ? -rounded : rounded;
}

/** Formats whole units of 10^-places as plain text: no exponent, no trailing zeros, a digit before the point. */
export function decimalText(ticks: bigint, places: number): string {
  const digits = (ticks < 0n ? -ticks : ticks).toString().padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  const fraction = digits.slice(digits.length - places).replace(/0+$/, "");
  const magnitude = fraction === "" ? whole : `${whole}.${fraction}`;
  return ticks < 0n ? `-${magnitude}` : magnitude;
}

export function exactText({ units, scale }: Exact): string {
  return decimalText(units, scale);
}

const powers = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent));

function tenTo(exponent: number): bigint {
  return powers[exponent] ?? 10n ** BigInt(exponent);
}

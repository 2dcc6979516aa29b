/**
 * Exact decimals, parsed from the text in API responses. They stay exact from the response to the screen; floats are
 * used only for the height of a bar and for percentages.
 */
export interface Decimal {
  /** The value is `units × 10^-scale`. */
  readonly units: bigint;
  readonly scale: number;
}

export const zero: Decimal = { units: 0n, scale: 0 };

export function decimal(text: string): Decimal {
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (parts === null) throw new RangeError(`not a decimal: ${text}`);
  const [, sign, whole = "", fraction = ""] = parts;
  const units = BigInt(whole + fraction);
  return { units: sign === "-" ? -units : units, scale: fraction.length };
}

function plus(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: at(a, scale) + at(b, scale), scale };
}

export function minus(a: Decimal, b: Decimal): Decimal {
  return plus(a, { units: -b.units, scale: b.scale });
}

export function sumOf(values: Iterable<Decimal>): Decimal {
  let sum = zero;
  for (const value of values) sum = plus(sum, value);
  return sum;
}

export function compare(a: Decimal, b: Decimal): number {
  const { units } = minus(a, b);
  return units < 0n ? -1 : units > 0n ? 1 : 0;
}

export const isZero = ({ units }: Decimal) => units === 0n;
export const isNegative = ({ units }: Decimal) => units < 0n;
export const absolute = ({ units, scale }: Decimal): Decimal => ({
  units: units < 0n ? -units : units,
  scale,
});

/** A float, for bars and percentages only. Never show it as an amount. */
export function approximate({ units, scale }: Decimal): number {
  return Number(units) / 10 ** scale;
}

/** A plain decimal without trailing zeros, for copying and tooltips. */
export function plainText({ units, scale }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, "");
  return `${units < 0n ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

/** All digits of an amount: `main` is the sign, the grouped whole part and two decimal places; `beyond` is the rest. */
export interface ShownAmount {
  readonly main: string;
  readonly beyond: string;
}

export function shownAmount(value: Decimal): ShownAmount {
  const [whole = "0", fraction = ""] = plainText(absolute(value)).split(".");
  return {
    main: `${isNegative(value) ? "−" : ""}${grouped(whole)}.${fraction.slice(0, 2).padEnd(2, "0")}`,
    beyond: fraction.slice(2),
  };
}

/** `part` as a percentage of `whole`, such as `12.3 %`; undefined if `whole` is zero. */
export function percentage(part: Decimal, whole: Decimal): string | undefined {
  if (isZero(whole)) return undefined;
  const percent = (approximate(part) / approximate(whole)) * 100;
  const rounded = Math.abs(percent) < 10 ? percent.toFixed(1) : percent.toFixed(0);
  return `${rounded.replace("-", "−")} %`;
}

function at({ units, scale }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - scale);
}

/** Groups thousands: `1234.5` becomes `1,234.5`. */
export function grouped(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? apart : `${apart}.${fraction}`;
}

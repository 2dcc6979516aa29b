/** Exact numbers as short texts for people. Their exact texts are in the API, and a click away in the console. */
import {
  compare,
  decimalText,
  type Exact,
  exact,
  minus,
  roundedQuotient,
  times,
  zero,
} from "./exact-decimal.js";

const minorUnits = new Map<string, number>();

/** Decimal places of the minor unit of a currency: 2 for USD, 0 for JPY. 2 for what is no ISO currency. */
export function placesOf(currency: string): number {
  const known = minorUnits.get(currency);
  if (known !== undefined) return known;
  const isCode = /^[A-Z]{3}$/.test(currency);
  const format = isCode ? new Intl.NumberFormat("en", { style: "currency", currency }) : undefined;
  const places = format?.resolvedOptions().maximumFractionDigits ?? 2;
  minorUnits.set(currency, places);
  return places;
}

/** An amount in the minor unit of its currency, `8.74`. An amount below half of it is `< 0.01`, not zero. */
export function moneyText(value: Exact, currency: string): string {
  return roundedText(value, placesOf(currency));
}

/** Rounded half away from zero, with thousands separators and this many decimal places. */
export function roundedText(value: Exact, places: number): string {
  const ticks = roundedQuotient(value, 1n, places);
  if (ticks === 0n && value.units !== 0n) {
    const least = fixedText(1n, places);
    return value.units > 0n ? `< ${least}` : `> −${least}`;
  }
  return fixedText(ticks, places);
}

function fixedText(ticks: bigint, places: number): string {
  const [whole = "0", fraction = ""] = decimalText(ticks < 0n ? -ticks : ticks, places).split(".");
  const decimals = places === 0 ? "" : `.${fraction.padEnd(places, "0")}`;
  return `${ticks < 0n ? "−" : ""}${groupDigits(whole)}${decimals}`;
}

/** Groups thousands: `1234.5` becomes `1,234.5`. */
export function groupDigits(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? apart : `${apart}.${fraction}`;
}

const hundred: Exact = { units: 100n, scale: 0 };
const one: Exact = { units: 1n, scale: 0 };

/** A share of 1 as a percentage with one decimal place. Only nothing is 0.0 %, and only all of it 100.0 %. */
export function shareText(share: Exact): string {
  const text = roundedText(times(share, hundred), 1);
  return text === "100.0" && compare(minus(one, share), zero) > 0 ? "> 99.9 %" : `${text} %`;
}

const byteUnits = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
/** Numbers below a million are written out. */
const largeNumbers = ["", "", "million", "billion", "trillion"];
/** Significant digits of a measured quantity. */
const DIGITS = 3;

export interface QuantityScale {
  /** `GB`, or empty for a number that needs no unit. */
  readonly unit: string;
  /** The quantity in this unit, with the decimal places of the whole. */
  readonly text: (value: Exact) => string;
}

/** The scale for parts of a measured quantity: all have the same unit and the same decimal places. */
export function quantityScale(whole: Exact, isBytes: boolean): QuantityScale {
  const names = isBytes ? byteUnits : largeNumbers;
  const digits = (value: Exact) => decimalText(roundedQuotient(value, 1n, 0), 0).length;
  const thousands = Math.min(Math.floor((digits(whole) - 1) / 3), names.length - 1);
  const steps = names[thousands] === "" ? 0 : thousands;
  const scaled = ({ units, scale }: Exact): Exact => ({ units, scale: scale + 3 * steps });
  const places = isBytes && steps === 0 ? 0 : Math.max(0, DIGITS - digits(scaled(whole)));
  return { unit: names[steps] ?? "", text: (value) => roundedText(scaled(value), places) };
}

/** A part of a measured quantity, `10.0 of 25.2 GB`. All of it is `25.2 GB`. */
export function partText(part: Exact, whole: Exact, isBytes: boolean): string {
  const { unit, text } = quantityScale(whole, isBytes);
  const shown = compare(part, whole) === 0 ? text(whole) : `${text(part)} of ${text(whole)}`;
  return `${shown} ${unit}`.trim();
}

/** `3 Nov 2026` or `3 Nov`. */
export function dayText(day: string, withYear = true): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    timeZone: "UTC",
    ...(withYear && { year: "numeric" }),
  });
  return format.format(new Date(`${day}T00:00:00Z`));
}

export const moneyOf = (amount: string, currency: string) => moneyText(exact(amount), currency);

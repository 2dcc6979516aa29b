/**
 * Exact decimals from text. Rates are money, so they never pass through a float.
 *
 * The bounds are those of the store's `Decimal(38, 12)`: 26 digits before the point and 12 after it.
 */
import type { Parsed } from "./setting.js";

const INTEGER_DIGITS = 26;
const DECIMAL_PLACES = 12;

/** Normalizes `"007.50"` to `"7.5"` and `"-0.0"` to `"0"`: no exponent, no trailing zeros, a digit before the point. */
export function parseDecimal(text: string): Parsed {
  const parts = /^(-?)0*(\d+)(?:\.(\d+))?$/.exec(text.trim());
  if (parts === null) {
    return { problem: "must be a plain decimal number such as 0.25 (no exponent, no separators)" };
  }
  const [, sign = "", whole = "", fraction = ""] = parts;
  const places = fraction.replace(/0+$/, "");
  if (places.length > DECIMAL_PLACES) return { problem: `must have at most ${DECIMAL_PLACES} decimals` };
  if (whole.length > INTEGER_DIGITS) {
    return { problem: `must have at most ${INTEGER_DIGITS} digits before the point` };
  }
  const magnitude = places === "" ? whole : `${whole}.${places}`;
  return { value: magnitude === "0" ? "0" : sign + magnitude };
}

/** Like `parseDecimal`, but refuses numbers below zero. */
export function parseNonNegativeDecimal(text: string): Parsed {
  const parsed = parseDecimal(text);
  return "value" in parsed && parsed.value.startsWith("-") ? { problem: "must not be negative" } : parsed;
}

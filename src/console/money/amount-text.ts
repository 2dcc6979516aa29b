/** Texts of amounts for the screen. */
import { type Exact, exactText } from "../../common/exact-decimal.js";
import { groupDigits, moneyText, placesOf } from "../../common/figures.js";

export const absolute = ({ units, scale }: Exact): Exact => ({ units: units < 0n ? -units : units, scale });

/** A float, for bars and percentages only. Never show it as an amount. */
export function approximate({ units, scale }: Exact): number {
  return Number(units) / 10 ** scale;
}

export interface ShownAmount {
  /** Sign, grouped whole part, and the decimal places of the currency. */
  readonly main: string;
  /** Further decimal places, if all digits are shown. */
  readonly beyond: string;
}

/** An amount in the minor unit of its currency, or with all its digits. */
export function shownAmount(value: Exact, currency: string, isExact: boolean): ShownAmount {
  if (!isExact) return { main: moneyText(value, currency), beyond: "" };
  const places = placesOf(currency);
  const [whole = "0", fraction = ""] = exactText(absolute(value)).split(".");
  const decimals = places === 0 ? "" : `.${fraction.slice(0, places).padEnd(places, "0")}`;
  const rest = fraction.slice(places);
  return {
    main: `${value.units < 0n ? "−" : ""}${groupDigits(whole)}${decimals}`,
    beyond: places === 0 && rest !== "" ? `.${rest}` : rest,
  };
}

/** `+8.74` or `−8.74`. */
export function changeText(change: Exact, currency: string): string {
  const text = moneyText(absolute(change), currency);
  return text.startsWith("<") ? text : `${change.units < 0n ? "−" : "+"}${text}`;
}

/** `part` as a percentage of `whole`, such as `12.3 %`; undefined if `whole` is zero. */
export function percentage(part: Exact, whole: Exact): string | undefined {
  if (whole.units === 0n) return undefined;
  const percent = (approximate(part) / approximate(whole)) * 100;
  const rounded = Math.abs(percent) < 10 ? percent.toFixed(1) : percent.toFixed(0);
  return `${rounded.replace("-", "−")} %`;
}

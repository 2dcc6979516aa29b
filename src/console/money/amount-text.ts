/** Texts of exact amounts for the screen. */
import { type Exact, exactText } from "../../common/exact-decimal.js";
import { groupDigits } from "../../common/figures.js";

export const absolute = ({ units, scale }: Exact): Exact => ({ units: units < 0n ? -units : units, scale });

/** A float, for bars and percentages only. Never show it as an amount. */
export function approximate({ units, scale }: Exact): number {
  return Number(units) / 10 ** scale;
}

/** All digits of an amount: `main` is the sign, the grouped whole part and two decimal places; `beyond` is the rest. */
export interface ShownAmount {
  readonly main: string;
  readonly beyond: string;
}

export function shownAmount(value: Exact): ShownAmount {
  const [whole = "0", fraction = ""] = exactText(absolute(value)).split(".");
  return {
    main: `${value.units < 0n ? "−" : ""}${groupDigits(whole)}.${fraction.slice(0, 2).padEnd(2, "0")}`,
    beyond: fraction.slice(2),
  };
}

/** `part` as a percentage of `whole`, such as `12.3 %`; undefined if `whole` is zero. */
export function percentage(part: Exact, whole: Exact): string | undefined {
  if (whole.units === 0n) return undefined;
  const percent = (approximate(part) / approximate(whole)) * 100;
  const rounded = Math.abs(percent) < 10 ? percent.toFixed(1) : percent.toFixed(0);
  return `${rounded.replace("-", "−")} %`;
}

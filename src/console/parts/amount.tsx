/** Amounts on the screen. */
import {
  absolute,
  type Decimal,
  isNegative,
  isZero,
  minus,
  percentage,
  plainText,
  shownAmount,
} from "../money/decimal.js";
import { en } from "../text/en.js";

interface AmountProps {
  readonly value: Decimal;
  /** ISO 4217; left out where a heading has it. */
  readonly currency?: string | undefined;
  /** So many places beyond two are kept free, so that amounts below each other have their points below each other. */
  readonly places?: number | undefined;
}

/** All digits of an amount, those beyond two places smaller. */
export function Amount({ value, currency, places = 0 }: AmountProps) {
  const { main, beyond } = shownAmount(value);
  return (
    <span class="amount" title={`${plainText(value)}${currency === undefined ? "" : ` ${currency}`}`}>
      {main}
      {(beyond !== "" || places > 0) && (
        <span class="beyond" style={places > 0 ? { minWidth: `${places}ch` } : undefined}>
          {beyond}
        </span>
      )}
      {currency !== undefined && (
        <>
          {" "}
          <span class="currency">{currency}</span>
        </>
      )}
    </span>
  );
}

/** An amount, and the one before. */
export interface Compared {
  readonly now: Decimal;
  readonly before: Decimal;
  /** Days may be missing, so that it is neither good nor bad news. */
  readonly isUnsure?: boolean;
}

/** In brackets; empty where nothing changed. */
export function changeInPercent({ now, before }: Compared): string {
  const difference = minus(now, before);
  if (isZero(difference)) return "";
  const percent = isZero(before) ? en.change.fromNothing : percentage(absolute(difference), absolute(before));
  return `(${percent ?? ""})`;
}

interface ChangeProps extends Compared {
  /** As of amounts: so many places beyond two are kept free, and so many letters for the percentage. */
  readonly places?: number | undefined;
  readonly percentLetters?: number | undefined;
}

/** How an amount differs from the one before: more cost is marked as such, and never by colour alone. */
export function Change({ now, before, isUnsure = false, places = 0, percentLetters = 0 }: ChangeProps) {
  const difference = minus(now, before);
  if (isZero(difference)) return <span class="change">{en.change.none}</span>;
  const { main, beyond } = shownAmount(absolute(difference));
  const isLess = isNegative(difference);
  return (
    <span class={isUnsure ? "change" : isLess ? "change less" : "change more"} title={plainText(difference)}>
      {isLess ? "▼ −" : "▲ +"}
      {main}
      {(beyond !== "" || places > 0) && (
        <span class="beyond" style={places > 0 ? { minWidth: `${places}ch` } : undefined}>
          {beyond}
        </span>
      )}{" "}
      <span class="percent" style={percentLetters > 0 ? { minWidth: `${percentLetters}ch` } : undefined}>
        {changeInPercent({ now, before })}
      </span>
    </span>
  );
}

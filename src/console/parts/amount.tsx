/** Renders amounts and changes of amounts. */
import { type Exact, exactText, minus } from "../../common/exact-decimal.js";
import { absolute, percentage, shownAmount } from "../money/amount-text.js";
import { en } from "../text/en.js";

interface AmountProps {
  readonly value: Exact;
  /** ISO 4217. Omitted if a heading names it. */
  readonly currency?: string | undefined;
  /** Width to reserve for decimal places beyond two, so that the decimal points of a column line up. */
  readonly places?: number | undefined;
}

/** Shows all digits of an amount. Decimal places beyond two are smaller. */
export function AmountCell({ value, currency, places = 0 }: AmountProps) {
  const { main, beyond } = shownAmount(value);
  return (
    <span class="amount" title={`${exactText(value)}${currency === undefined ? "" : ` ${currency}`}`}>
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

/** An amount of the shown period and of the period before. */
export interface Compared {
  readonly now: Exact;
  readonly before: Exact;
  /** A period may be incomplete, so the change is not coloured as an increase or a decrease. */
  readonly isUnsure?: boolean;
}

/** The change as a percentage in brackets; empty if nothing changed. */
export function changeInPercent({ now, before }: Compared): string {
  const difference = minus(now, before);
  if (difference.units === 0n) return "";
  const percent =
    before.units === 0n ? en.change.fromNothing : percentage(absolute(difference), absolute(before));
  return `(${percent ?? ""})`;
}

interface ChangeProps extends Compared {
  /** Width to reserve for decimal places beyond two, as for amounts. */
  readonly places?: number | undefined;
  /** Width to reserve for the percentage, in characters. */
  readonly percentLetters?: number | undefined;
}

/** Shows the difference to the period before. Arrow and sign mark the direction, so it does not depend on colour. */
export function Change({ now, before, isUnsure = false, places = 0, percentLetters = 0 }: ChangeProps) {
  const difference = minus(now, before);
  if (difference.units === 0n) return <span class="change">{en.change.none}</span>;
  const { main, beyond } = shownAmount(absolute(difference));
  const isLess = difference.units < 0n;
  return (
    <span class={isUnsure ? "change" : isLess ? "change less" : "change more"} title={exactText(difference)}>
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

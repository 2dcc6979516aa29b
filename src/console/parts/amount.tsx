/** Renders amounts and changes of amounts. */
import { useContext } from "preact/hooks";
import { type Exact, exactText, minus } from "../../common/exact-decimal.js";
import { absolute, percentage, type ShownAmount, shownAmount } from "../money/amount-text.js";
import { AllDigits } from "../state/digits.js";
import { en } from "../text/en.js";

interface AmountProps {
  readonly value: Exact;
  /** ISO 4217. */
  readonly currency: string;
  /** Whether a heading names the currency, so that the amount does not. */
  readonly isNamed?: boolean | undefined;
  /** Shows all digits, also if the address does not say so. */
  readonly isExact?: boolean | undefined;
  /** Width to reserve for decimal places beyond the currency's, so that the decimal points of a column line up. */
  readonly places?: number | undefined;
}

/** An amount in the minor unit of its currency. Its title and a copy of it have all digits. */
export function AmountCell({ value, currency, isNamed = false, isExact = false, places = 0 }: AmountProps) {
  const hasAllDigits = useContext(AllDigits);
  return (
    <span class="amount" title={`${exactText(value)} ${currency}`}>
      <span data-exact={exactText(value)}>
        <Digits shown={shownAmount(value, currency, isExact || hasAllDigits)} places={places} />
      </span>
      {!isNamed && (
        <>
          {" "}
          <span class="currency">{currency}</span>
        </>
      )}
    </span>
  );
}

/** A part of a change: it has a sign, also if it is positive. */
export function SignedAmount({ value, currency, isNamed = false }: AmountProps) {
  return (
    <span class="amount">
      {value.units > 0n && "+"}
      <AmountCell value={value} currency={currency} isNamed={isNamed} />
    </span>
  );
}

function Digits({ shown, places }: { readonly shown: ShownAmount; readonly places: number }) {
  return (
    <>
      {shown.main}
      {(shown.beyond !== "" || places > 0) && (
        <span class="beyond" style={places > 0 ? { minWidth: `${places}ch` } : undefined}>
          {shown.beyond}
        </span>
      )}
    </>
  );
}

/** An amount of the shown period and of the period before. */
export interface Compared {
  /** ISO 4217. */
  readonly currency: string;
  readonly now: Exact;
  readonly before: Exact;
  /** A period may be incomplete, so the change is not coloured as an increase or a decrease. */
  readonly isUnsure?: boolean;
}

/** The change as a percentage; empty if nothing changed. */
export function changeInPercent({ now, before }: Compared): string {
  const difference = minus(now, before);
  if (difference.units === 0n) return "";
  if (before.units === 0n) return en.change.fromNothing;
  return percentage(absolute(difference), absolute(before)) ?? "";
}

interface ChangeProps extends Compared {
  /** Width to reserve for decimal places beyond the currency's, as for amounts. */
  readonly places?: number | undefined;
  /** Width to reserve for the percentage, in characters. */
  readonly percentLetters?: number | undefined;
}

/** Shows the difference to the period before. Arrow and sign mark the direction, so it does not depend on colour. */
export function Change(change: ChangeProps) {
  const { now, before, currency, isUnsure = false, places = 0, percentLetters = 0 } = change;
  const hasAllDigits = useContext(AllDigits);
  const difference = minus(now, before);
  if (difference.units === 0n) return <span class="change">{en.change.none}</span>;
  const shown = shownAmount(absolute(difference), currency, hasAllDigits);
  const isLess = difference.units < 0n;
  const sign = shown.main.startsWith("<") ? "" : isLess ? "−" : "+";
  return (
    <span class={isUnsure ? "change" : isLess ? "change less" : "change more"} title={exactText(difference)}>
      <span data-exact={exactText(difference)}>
        {isLess ? "▼" : "▲"} {sign}
        <Digits shown={shown} places={places} />
      </span>{" "}
      <span class="percent" style={percentLetters > 0 ? { minWidth: `${percentLetters}ch` } : undefined}>
        {changeInPercent({ now, before, currency })}
      </span>
    </span>
  );
}

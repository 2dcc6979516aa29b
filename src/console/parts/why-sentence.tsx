/** The sentence that says why a sum changed, with what one may do with it. */
import { useRef } from "preact/hooks";
import { exact } from "../../common/exact-decimal.js";
import { moneyText } from "../../common/figures.js";
import { type ChangeSums, type ComparedChange, namedReasons } from "../api/change.js";
import { shownDay } from "../state/days.js";
import type { Filter } from "../state/filters.js";
import type { Period } from "../state/period.js";
import { useCopy } from "../state/use-copy.js";
import { en } from "../text/en.js";
import { ComparedNotes } from "./compared.js";
import { duringPeriod } from "./period-picker.js";
import { usePayer } from "./whose.js";

interface SentenceProps {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
  readonly change: ComparedChange;
  /** The sums of the currency. Undefined if it had no costs in either period. */
  readonly totals: ChangeSums | undefined;
}

export function WhySentence(props: SentenceProps) {
  const shown = useRef<HTMLHeadingElement>(null);
  const { isCopied, copy } = useCopy();
  const sentence = useSentence(props);
  return (
    <>
      <h2 ref={shown} class="sentence">
        <bdi>{sentence}</bdi>
      </h2>
      <p class="actions">
        <button type="button" onClick={() => copy(`${sentence}\n${location.href}`, shown.current)}>
          {isCopied ? en.explain.copied : en.explain.copy}
        </button>
        <button type="button" onClick={() => print()}>
          {en.statement.print}
        </button>
      </p>
      <ComparedNotes comparison={props.change.comparison} />
    </>
  );
}

export function useSentence({ tenant, period, filters, change, totals }: SentenceProps): string {
  const payer = usePayer({ tenant, period, filters });
  const { before, firstDay } = change.comparison;
  if (totals === undefined) return "";
  const { currency, amount } = totals;
  if (firstDay !== undefined)
    return en.why.nothingBefore(
      payer,
      `${moneyText(exact(amount), currency)} ${currency}`,
      shownDay(firstDay),
    );
  const reasons = namedReasons(change, currency);
  return en.why.sentence({ payer, sums: totals, before: duringPeriod(before), reasons });
}

/** A few amounts as bars, each with its figure below; on a phone, each is a row. */
import type { ComponentChildren } from "preact";
import type { Exact } from "../../common/exact-decimal.js";
import { approximate } from "../money/amount-text.js";
import { AmountCell } from "./amount.js";

interface Bar {
  readonly key: string;
  readonly amount: Exact;
  readonly name: ComponentChildren;
  /** The bar that the page is about. */
  readonly isCurrent: boolean;
}

export function Bars({ bars, currency }: { readonly bars: readonly Bar[]; readonly currency: string }) {
  const sizes = bars.map(({ amount }) => Math.abs(approximate(amount)));
  const most = Math.max(...sizes, Number.MIN_VALUE);
  return (
    <ol class="bars">
      {bars.map(({ key, amount, name, isCurrent }, index) => (
        <li key={key} aria-current={isCurrent ? "date" : undefined}>
          <span class="bar" aria-hidden="true">
            <span class="color-1" style={{ "--size": `${(100 * (sizes[index] ?? 0)) / most}%` }} />
          </span>
          <AmountCell value={amount} currency={currency} isNamed />
          <span>{name}</span>
        </li>
      ))}
    </ol>
  );
}

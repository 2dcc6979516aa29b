/** The bill, and that all of it was charged: stands wherever totals do. */
import { amountOf, type Totals } from "../api/breakdown.js";
import type { Schemas } from "../api/client.js";
import { useReconciliation } from "../api/questions.js";
import { compare, decimal, percentage, zero } from "../money/decimal.js";
import type { Period } from "../state/period.js";
import { en } from "../text/en.js";
import { Amount } from "./amount.js";
import { Shown } from "./messages.js";

const text = en.overview;

/** On every day: differences of two days may cancel out. */
export function addsUp({ days }: Schemas["Reconciliation"], currency: string): boolean {
  return days.every((day) => day.currency !== currency || compare(decimal(day.difference), zero) === 0);
}

/** How many days of the period may still change. */
export function provisionalDays({ days }: Schemas["Reconciliation"]): number {
  return new Set(days.filter((day) => day.provisional).map(({ date }) => date)).size;
}

/** Of the period as a whole, whatever the filters of the view. */
export function PeriodProof({ tenant, period }: { readonly tenant: string; readonly period: Period }) {
  const data = useReconciliation(tenant, period);
  return (
    <Shown data={data} height="4rem">
      {(found) => <Proof found={found} />}
    </Shown>
  );
}

interface ProofProps {
  readonly found: Schemas["Reconciliation"];
  /** It is of the lines that filters of the view leave. */
  readonly isOfLines?: boolean;
  /** What the view's other filters leave of it, where it has some. */
  readonly filtered?: readonly Totals[] | undefined;
}

export function Proof({ found, isOfLines = false, filtered }: ProofProps) {
  if (found.totals.length === 0) return null;
  const provisional = provisionalDays(found);
  return (
    <section class="proof" aria-label={text.bill}>
      {found.totals.map((each) => {
        const difference = decimal(each.difference);
        const own = filtered?.find(({ currency }) => currency === each.currency);
        const left = own === undefined ? zero : amountOf(own);
        return (
          <p key={each.currency} class={addsUp(found, each.currency) ? "holds" : "broken"}>
            <span>
              {isOfLines ? text.billOfLines : text.bill}{" "}
              <Amount value={decimal(each.billing_amount)} currency={each.currency} />
            </span>
            <span>{text.equals}</span>
            <span>
              {text.allocated} <Amount value={decimal(each.allocated_amount)} />
            </span>
            <span>{text.plus}</span>
            <span>
              {text.unallocated} <Amount value={decimal(each.unallocated_amount)} />
              <small>
                {" "}
                {percentage(decimal(each.unallocated_amount), decimal(each.billing_amount)) ?? ""}
              </small>
            </span>
            <span class="verdict">
              {text.difference} <Amount value={difference} />
            </span>
            {filtered !== undefined && (
              <span class="filtered">
                {text.filtered} <Amount value={left} currency={each.currency} />
                <small> {percentage(left, decimal(each.billing_amount)) ?? ""}</small>
              </span>
            )}
          </p>
        );
      })}
      {provisional > 0 && <p class="provisional">{text.provisional(provisional)}</p>}
    </section>
  );
}

/** Shows next to totals that the bill equals its chargebacks, and the difference if it does not. */
import { compare, exact, zero } from "../../common/exact-decimal.js";
import { bucketAmount, type Totals } from "../api/breakdown.js";
import type { Schemas } from "../api/client.js";
import { useReconciliation } from "../api/questions.js";
import { percentage } from "../money/amount-text.js";
import type { Period } from "../state/period.js";
import { en } from "../text/en.js";
import { AmountCell } from "./amount.js";
import { Shown } from "./messages.js";

const text = en.overview;

/** Whether every day adds up. Totals are not enough: differences of two days may cancel each other out. */
export function addsUp({ days }: Schemas["Reconciliation"], currency: string): boolean {
  return days.every((day) => day.currency !== currency || compare(exact(day.difference), zero) === 0);
}

/** Number of provisional days, which may still change. */
export function provisionalDays({ days }: Schemas["Reconciliation"]): number {
  return new Set(days.filter((day) => day.provisional).map(({ date }) => date)).size;
}

/** Reconciliation of the whole period, without the filters of the view. */
export function PeriodProof({ tenant, period }: { readonly tenant: string; readonly period: Period }) {
  const data = useReconciliation(tenant, period);
  return (
    <Shown data={data} height="var(--proof)">
      {(reconciliation) => <ReconciliationBanner reconciliation={reconciliation} />}
    </Shown>
  );
}

interface ProofProps {
  readonly reconciliation: Schemas["Reconciliation"];
  /** The reconciliation covers only the lines that match the filters of the view. */
  readonly isOfLines?: boolean;
  /** Totals under all filters, if the view has filters that billing lines cannot be filtered by. */
  readonly filtered?: readonly Totals[] | undefined;
}

export function ReconciliationBanner({ reconciliation, isOfLines = false, filtered }: ProofProps) {
  if (reconciliation.totals.length === 0) return null;
  const provisional = provisionalDays(reconciliation);
  return (
    <section class="proof" aria-label={text.bill}>
      {reconciliation.totals.map((each) => {
        const difference = exact(each.difference);
        const own = filtered?.find(({ currency }) => currency === each.currency);
        const left = own === undefined ? zero : bucketAmount(own);
        return (
          <p key={each.currency} class={addsUp(reconciliation, each.currency) ? "holds" : "broken"}>
            <span>
              {isOfLines ? text.billOfLines : text.bill}{" "}
              <AmountCell value={exact(each.billing_amount)} currency={each.currency} isExact />
            </span>
            <span>{text.equals}</span>
            <span>
              {text.allocated}{" "}
              <AmountCell value={exact(each.allocated_amount)} currency={each.currency} isNamed isExact />
            </span>
            <span>{text.plus}</span>
            <span>
              {text.unallocated}{" "}
              <AmountCell value={exact(each.unallocated_amount)} currency={each.currency} isNamed isExact />
              <small> {percentage(exact(each.unallocated_amount), exact(each.billing_amount)) ?? ""}</small>
            </span>
            <span class="verdict">
              {text.difference} <AmountCell value={difference} currency={each.currency} isNamed isExact />
            </span>
            {filtered !== undefined && (
              <span class="filtered">
                {text.filtered} <AmountCell value={left} currency={each.currency} isExact />
                <small> {percentage(left, exact(each.billing_amount)) ?? ""}</small>
              </span>
            )}
          </p>
        );
      })}
      {provisional > 0 && <p class="provisional">{text.provisional(provisional)}</p>}
    </section>
  );
}

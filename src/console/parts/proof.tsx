/** The bill, and that all of it was charged: stands wherever totals do. */
import type { Schemas } from "../api/client.js";
import { compare, decimal, percentage, zero } from "../money/decimal.js";
import { en } from "../text/en.js";
import { Amount } from "./amount.js";

const text = en.overview;

/** On every day: differences of two days may cancel out. */
export function addsUp({ days }: Schemas["Reconciliation"], currency: string): boolean {
  return days.every((day) => day.currency !== currency || compare(decimal(day.difference), zero) === 0);
}

export function Proof({ found }: { readonly found: Schemas["Reconciliation"] }) {
  const provisional = new Set(found.days.filter((day) => day.provisional).map(({ date }) => date)).size;
  return (
    <section class="proof" aria-label={text.bill}>
      {found.totals.map((each) => {
        const difference = decimal(each.difference);
        return (
          <p key={each.currency} class={addsUp(found, each.currency) ? "holds" : "broken"}>
            <span>
              {text.bill} <Amount value={decimal(each.billing_amount)} currency={each.currency} />
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
          </p>
        );
      })}
      {provisional > 0 && <p class="provisional">{text.provisional(provisional)}</p>}
    </section>
  );
}

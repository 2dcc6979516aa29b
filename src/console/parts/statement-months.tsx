/** The costs of a statement in the last six months. */
import { addDays, firstOfMonth, lastOfMonth } from "../../common/days.js";
import { exact } from "../../common/exact-decimal.js";
import { type BreakdownRequest, useBreakdown } from "../api/breakdown.js";
import { shownMonth } from "../state/days.js";
import type { Filter } from "../state/filters.js";
import type { Period } from "../state/period.js";
import { en } from "../text/en.js";
import { Bars } from "./bars.js";
import { Shown } from "./messages.js";

const MONTHS = 6;

interface MonthsProps {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
  readonly currency: string;
}

export function StatementMonths({ tenant, period, filters, currency }: MonthsProps) {
  const months = monthsUntil(period.last);
  const whole = { first: months[0] ?? period.first, last: lastOfMonth(period.last) };
  const request: BreakdownRequest = {
    tenant,
    period: whole,
    filters,
    groupBy: ["currency"],
    timeBucket: "month",
    limit: 1,
  };
  const data = useBreakdown(request);
  return (
    <section class="months">
      <h2>{en.statement.months}</h2>
      <Shown data={data} height="8rem">
        {({ time_buckets: buckets, totals }) => {
          const amounts = totals.find((each) => each.currency === currency)?.amounts;
          return (
            <Bars
              currency={currency}
              bars={months.map((month) => ({
                key: month,
                name: shownMonth(month, "short"),
                amount: exact(amounts?.[buckets.indexOf(month.slice(0, 7))] ?? "0"),
                isCurrent: month <= period.last && lastOfMonth(month) >= period.first,
              }))}
            />
          );
        }}
      </Shown>
    </section>
  );
}

/** The first days of the last months. */
function monthsUntil(day: string): string[] {
  let first = firstOfMonth(day);
  const months = [first];
  while (months.length < MONTHS) {
    first = firstOfMonth(addDays(first, -1));
    months.unshift(first);
  }
  return months;
}

/** Costs in the last six months as bars, one picture for each currency. */
import type { ComponentChildren } from "preact";
import { addDays, firstOfMonth, lastOfMonth } from "../../common/days.js";
import { exact } from "../../common/exact-decimal.js";
import { type BreakdownRequest, useBreakdown } from "../api/breakdown.js";
import { shownMonth } from "../state/days.js";
import type { Filter } from "../state/filters.js";
import type { Period } from "../state/period.js";
import { Bars } from "./bars.js";
import { Shown } from "./messages.js";

const MONTHS = 6;

interface MonthsProps {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
  /** Shows this currency, even without costs. Default: every currency that has some. */
  readonly currency?: string;
  /** Returns the text below the name of the month with this first day. */
  readonly note?: (month: string) => ComponentChildren;
}

export function MonthBars({ tenant, period, filters, currency, note }: MonthsProps) {
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
    <Shown data={data} height="8rem">
      {({ time_buckets: buckets, totals }) =>
        (currency === undefined ? totals.map((each) => each.currency) : [currency]).map((shown) => {
          const amounts = totals.find((each) => each.currency === shown)?.amounts;
          return (
            <Bars
              key={shown}
              currency={shown}
              bars={months.map((month) => ({
                key: month,
                name: (
                  <>
                    {shownMonth(month, "short")}
                    {note !== undefined && <div>{note(month)}</div>}
                  </>
                ),
                amount: exact(amounts?.[buckets.indexOf(month.slice(0, 7))] ?? "0"),
                isCurrent: month <= period.last && lastOfMonth(month) >= period.first,
              }))}
            />
          );
        })
      }
    </Shown>
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

/** Texts of the marks on charts over time. */
import { shownDay, shownInstant } from "../state/days.js";

interface Bill {
  readonly day: string;
  readonly last_day: string | null;
  readonly source: string | null;
  readonly billing_period: string | null;
  readonly delivery_count: number | null;
  readonly at: string | null;
}

export const marksTexts = {
  on: (day: string, what: string) => `${shownDay(day, false)}: ${what}`,
  rules_changed: () => "other rules apply from this day on",
  bill_replaced: ({
    day,
    last_day: last,
    source,
    billing_period: month,
    delivery_count: count,
    at,
  }: Bill) => {
    const bill = `${month === null ? "a bill" : `the bill of ${month}`} from ${source}`;
    const until = last === null || last === day ? "" : ` until ${shownDay(last, false)}`;
    return `${bill} was delivered again, and lines changed${until}: ${count} deliveries so far, the last on ${shownInstant(at ?? "")}`;
  },
  earlier: (count: number) => `Earlier events without a mark: ${count.toLocaleString("en")}.`,
  hide: "Hide the marks",
  show: "Mark what happened",
} as const;

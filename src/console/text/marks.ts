/** Texts of the marks on charts over time. */
import { shownDay, shownInstant } from "../state/days.js";

interface Bill {
  readonly source: string | null;
  readonly billing_period: string | null;
  readonly delivery_count: number | null;
  readonly at: string | null;
}

export const marksTexts = {
  on: (day: string, what: string) => `${shownDay(day, false)}: ${what}`,
  rules_changed: () => "other rules apply from this day on",
  bill_replaced: ({ source, billing_period: month, delivery_count: count, at }: Bill) =>
    `${month === null ? "a bill" : `the bill of ${month}`} from ${source} was delivered again: ${count} times so far, last on ${shownInstant(at ?? "")}`,
  earlier: (count: number) => `Earlier events without a mark: ${count.toLocaleString("en")}.`,
  hide: "Hide the marks",
  show: "Mark what happened",
} as const;

/**
 * Control totals of metered costs. A row is one step of one product, normally an hour, so a day has as many rows as
 * steps for each product, and each row is in exactly one class. That includes fixed products, which are charged for
 * every step.
 */
import { DAY_SECONDS, type DayRange, daysOfWindow, midnightSeconds } from "../../common/days.js";
import { sumText } from "../../common/exact-decimal.js";
import { type ControlTotal, type RowClass, singleAmountTotal } from "../../domain/control-totals.js";
import type { Measured, SentBill } from "./send-bill.js";

export interface MeasuredWindow extends Pick<SentBill, "costs"> {
  readonly measured: readonly Measured[];
  /** Days before the first sample. */
  readonly absent: ReadonlySet<string>;
}

type ClassifiedRows = Pick<ControlTotal, "class" | "reason"> & {
  readonly rows: number;
  readonly cost: string;
};

/** A cost with a price counts as charged. Staging decides whether its day is taken. */
export function controlOfWindow(
  { currency, stepSeconds }: { readonly currency: string; readonly stepSeconds: number },
  window: DayRange,
  { measured, absent, costs }: MeasuredWindow,
): ControlTotal[] {
  const steps = DAY_SECONDS / stepSeconds;
  return daysOfWindow(window).flatMap((day) => {
    const classified = measured.flatMap((each) =>
      absent.has(day)
        ? [{ class: "outside_window", reason: BEFORE_FIRST, rows: steps, cost: "0" } as const]
        : classify(each, day, { cost: costs.get(day)?.get(each.product.name), steps, stepSeconds }),
    );
    const delivered = {
      class: "delivered" as const,
      reason: "",
      rows: steps * measured.length,
      cost: sumText([...(costs.get(day)?.values() ?? [])]),
    };
    return [delivered, ...merged(classified)].map((each) => singleAmountTotal({ day, currency, ...each }));
  });
}

const BEFORE_FIRST = "before_first_sample";

/** Classifies the steps of one product and day. `cost`: the cost of its line, undefined if it has none. */
function classify(
  { product, samples }: Measured,
  day: string,
  { cost, steps, stepSeconds }: { readonly cost: string | undefined; steps: number; stepSeconds: number },
): ClassifiedRows[] {
  const leftOut = (reason: string): ClassifiedRows[] => [
    { class: "left_out", reason, rows: steps, cost: "0" },
  ];
  if (cost === undefined) return leftOut(samples.failed.has(day) ? "failed" : "not_measured");
  const charged: RowClass = /[1-9]/.test(cost) ? "charged" : "zero";
  if (product.quantity.type === "fixed") return [{ class: charged, reason: "", rows: steps, cost }];
  const sums = samples.sums.get(day) ?? new Map();
  const begin = samples.first?.day === day ? Math.min(...sums.keys()) : midnightSeconds(day);
  const counts = { sampled: 0, before: 0, noSample: 0 };
  for (let index = 0; index < steps; index += 1) {
    const start = midnightSeconds(day) + index * stepSeconds;
    counts[sums.has(start) ? "sampled" : start < begin ? "before" : "noSample"] += 1;
  }
  return [
    { class: charged, reason: "", rows: counts.sampled, cost },
    { class: "outside_window", reason: BEFORE_FIRST, rows: counts.before, cost: "0" },
    { class: "left_out", reason: "no_sample", rows: counts.noSample, cost: "0" },
  ];
}

/** Returns one entry for each class and reason that has rows. */
function merged(entries: readonly ClassifiedRows[]): ClassifiedRows[] {
  const sums = new Map<string, ClassifiedRows>();
  for (const entry of entries) {
    if (entry.rows === 0) continue;
    const key = `${entry.class} ${entry.reason}`;
    const before = sums.get(key) ?? { ...entry, rows: 0, cost: "0" };
    sums.set(key, { ...before, rows: before.rows + entry.rows, cost: sumText([before.cost, entry.cost]) });
  }
  return [...sums.values()];
}

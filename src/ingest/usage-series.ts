/** Usage of one resource by one identity, step by step, without an object for each fact. */
import { dayOfSeconds, isoTime } from "../common/days.js";
import type { UsageFact, UsageSeries } from "./ecosystem.js";
import { type MicroAmount, type MicroUnits, plusAmounts, roughly, unitsAt } from "./micro-units.js";

/** Steps in ascending order, each once. */
export interface StepAmounts {
  readonly starts: number[];
  readonly amounts: MicroAmount[];
}

export function noAmounts(): StepAmounts {
  return { starts: [], amounts: [] };
}

/**
 * Adds an amount. `merge` combines it with an amount of the same step; by default both are added up. Steps usually
 * arrive in order; others are found by a binary search.
 */
export function addAmount(
  { starts, amounts: sums }: StepAmounts,
  start: number,
  amount: MicroAmount,
  merge: (before: MicroAmount, amount: MicroAmount) => MicroAmount = plusAmounts,
): void {
  const last = starts.at(-1);
  if (last === undefined || start > last) {
    starts.push(start);
    sums.push(amount);
    return;
  }
  const at = firstNotBefore(starts, start);
  const before = starts[at] === start ? sums[at] : undefined;
  if (before !== undefined) {
    sums[at] = merge(before, amount);
  } else {
    starts.splice(at, 0, start);
    sums.splice(at, 0, amount);
  }
}

function firstNotBefore(ascending: readonly number[], value: number): number {
  let from = 0;
  let to = ascending.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((ascending[middle] ?? value) < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Usage of one identity, before its unit is chosen. */
export type MeasuredSeries = Omit<UsageSeries, "scale" | "microUnits"> & StepAmounts;

/**
 * The largest sample of a metric, resource and day has at least this many digits, unless all of its samples are whole
 * millionths.
 */
const DIGITS = 12;
/** More decimal places than any unit needs: 10^24 of them still fit into 128 bits. */
const MOST_PLACES = 48;

/**
 * Converts series of one metric to whole numbers. All samples of a resource and day in these series get the same unit,
 * so rounding does not depend on the identity.
 */
export function inWholeUnits(series: readonly MeasuredSeries[]): UsageSeries[] {
  const scales = new Map<string, number>();
  for (const { resource_id, starts, amounts } of series) {
    if (!amounts.some((amount) => typeof amount === "object")) continue;
    for (const [at, amount] of amounts.entries())
      if (typeof amount === "object") scales.set(keyOf(resource_id, starts[at] ?? 0), 0);
  }
  if (scales.size === 0)
    return series.map(({ amounts, ...labels }) => ({
      ...labels,
      scale: 0,
      microUnits: amounts.map((amount) => unitsAt(amount, 0)),
    }));
  const largest = new Map<string, number>();
  for (const { resource_id, starts, amounts } of series)
    for (const [at, amount] of amounts.entries()) {
      const key = keyOf(resource_id, starts[at] ?? 0);
      if (scales.has(key)) largest.set(key, Math.max(largest.get(key) ?? 0, roughly(amount)));
    }
  for (const [key, units] of largest) scales.set(key, scaleFor(units));
  return series.flatMap(({ starts, amounts, ...labels }) => {
    const byScale = new Map<number, { starts: number[]; microUnits: MicroUnits[] }>();
    for (const [at, start] of starts.entries()) {
      const scale = scales.get(keyOf(labels.resource_id, start)) ?? 0;
      const whole = byScale.get(scale) ?? { starts: [], microUnits: [] };
      byScale.set(scale, whole);
      whole.starts.push(start);
      whole.microUnits.push(unitsAt(amounts[at] ?? 0, scale));
    }
    return [...byScale].map(([scale, whole]) => ({ ...labels, scale, ...whole }));
  });
}

const keyOf = (resource: string, start: number) => `${dayOfSeconds(start)} ${resource}`;

/** In steps of three, so that the units of two days or responses rarely differ. */
function scaleFor(units: number): number {
  const missing = DIGITS - 1 - 6 - Math.floor(Math.log10(units));
  return Math.min(MOST_PLACES, Math.max(0, 3 * Math.ceil(missing / 3)));
}

/** Converts series to single facts. */
export function factsOf(batch: readonly UsageSeries[]): UsageFact[] {
  return batch.flatMap(({ metric, resource_id, identity_id, scale, starts, microUnits }) =>
    starts.map((start, at) => ({
      timestamp: isoTime(start),
      metric,
      resource_id,
      identity_id,
      micro_units: String(microUnits[at] ?? ""),
      ...(scale > 0 && { scale: String(scale) }),
    })),
  );
}

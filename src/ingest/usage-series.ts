/** How much one identity used of one resource, step by step: the usage of an answer without an object for each fact. */
import { isoTime } from "../time/days.js";
import type { UsageFact, UsageSeries } from "./ecosystem.js";
import { type MicroUnits, plusMicroUnits } from "./micro-units.js";

/** Steps in ascending order, each once. */
export interface StepAmounts {
  readonly starts: number[];
  readonly microUnits: MicroUnits[];
}

export function noAmounts(): StepAmounts {
  return { starts: [], microUnits: [] };
}

/** `merge`: what becomes of a step that has an amount already; without it, both are added up. Steps usually come in order: any other is looked for. */
export function addAmount(
  { starts, microUnits: sums }: StepAmounts,
  start: number,
  amount: MicroUnits,
  merge: (before: MicroUnits, amount: MicroUnits) => MicroUnits = plusMicroUnits,
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

/** The facts of series, one by one. */
export function factsOf(batch: readonly UsageSeries[]): UsageFact[] {
  return batch.flatMap(({ metric, resource_id, identity_id, starts, microUnits }) =>
    starts.map((start, at) => ({
      timestamp: isoTime(start),
      metric,
      resource_id,
      identity_id,
      micro_units: String(microUnits[at] ?? ""),
    })),
  );
}

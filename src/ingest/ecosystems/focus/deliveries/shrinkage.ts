/** Whether a delivery takes away so much of what it replaces that a person should look. */
import type { LoadedLines } from "../load/summary.js";
import type { RecordedDelivery } from "./records.js";

export interface Replacement {
  readonly old: RecordedDelivery;
  readonly loaded: Pick<LoadedLines, "lines" | "sums">;
  /** Largest share that may be lost: 0.5 is half. */
  readonly limit: number;
  /** Today, in UTC. */
  readonly today: string;
}

/** A sentence, or undefined when it may replace. Bills of a month that is not over may shrink: they are estimates. */
export function shrinkage({ old, loaded, limit, today }: Replacement): string | undefined {
  if (!isOver(old, today)) return undefined;
  const keeps = 1 - limit;
  const percent = (now: number, was: number) => `${Math.round((1 - now / was) * 100)} %`;
  const was = Number(old.lines ?? 0);
  if (was > 0 && loaded.lines < was * keeps)
    return `it has ${percent(loaded.lines, was)} fewer lines than the bill it would replace (${loaded.lines} instead of ${was})`;
  for (const { currency, effective_cost, billed_cost } of old.sums) {
    const now = loaded.sums.find((each) => each.currency === currency);
    for (const [name, before] of Object.entries({ billed_cost, effective_cost })) {
      // Only whether it is about half: a float is exact enough for that.
      const amount = Math.abs(Number(before));
      const left = Math.abs(Number(now?.[name as "billed_cost" | "effective_cost"] ?? 0));
      if (amount > 0 && left < amount * keeps)
        return `its ${name} in ${currency} is ${percent(left, amount)} less than that of the bill it would replace`;
    }
  }
  return undefined;
}

function isOver({ billing_period, last_day }: RecordedDelivery, today: string): boolean {
  const month = billing_period ?? last_day?.slice(0, 7);
  return month !== undefined && month < today.slice(0, 7);
}

/** How complete a period is: how many of its days have their costs, and whether these may still change. */

interface Day {
  /** As in the state of a tenant's days. */
  readonly state: string;
  readonly provisional: boolean;
}

export interface Coverage {
  readonly covered: number;
  readonly days: number;
  /** `incomplete`: days are missing; `provisional`: the costs of all days are there, and some may still change. */
  readonly state: "final" | "provisional" | "incomplete";
}

/** Whether the costs of the day are there. */
export const isCovered = ({ state }: Day) => ["published", "outdated", "no_bill"].includes(state);

/** Whether the costs of the day are there and will not change. */
export const isComplete = (day: Day) => isCovered(day) && day.state !== "outdated" && !day.provisional;

/** `known` are the days of the period that have a state, and `days` is the number of all its days. */
export function coverageOf(known: readonly Day[], days: number): Coverage {
  const covered = known.filter(isCovered).length;
  if (covered < days) return { covered, days, state: "incomplete" };
  return { covered, days, state: known.every(isComplete) ? "final" : "provisional" };
}

/**
 * Control totals: what an upstream delivered, and the class of each of its rows. Every row is in exactly one class, so
 * the delivered rows and amounts equal the sums over all classes. A row of a cost that is priced by samples is one step of
 * it, normally an hour.
 */

export const rowClasses = [
  "charged",
  "zero",
  "outside_window",
  "superseded",
  "duplicate",
  "left_out",
] as const;
export type RowClass = (typeof rowClasses)[number];

/**
 * `delivered`: all rows. `published_only`: published amounts that no delivered row explains any more. They are not part
 * of the equation.
 */
export type ControlClass = RowClass | "delivered" | "published_only";

/** Amounts are plain decimals. */
export interface ControlAmounts {
  readonly rows: number;
  /** The amount that the tenant charges. */
  readonly cost: string;
  readonly billed: string;
  readonly effective: string;
}

/** Builds a total of an ecosystem that has no deliveries, and a single amount for each row. */
export function singleAmountTotal({
  cost,
  ...total
}: Omit<ControlTotal, "delivery" | "billed" | "effective">): ControlTotal {
  return { delivery: null, ...total, cost, billed: cost, effective: cost };
}

export interface ControlTotal extends ControlAmounts {
  /** Number of the delivery; null for ecosystems without deliveries. */
  readonly delivery: string | null;
  /** UTC day on which the charge begins, for `delivered` the first day of its month; null without a readable day. */
  readonly day: string | null;
  readonly currency: string;
  readonly class: ControlClass;
  /**
   * Why rows are in the class: `before_lookback`, `no_sample` or a finding. Empty if the class alone explains it.
   */
  readonly reason: string;
}

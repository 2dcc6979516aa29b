/** The input of a breakdown. */
import type { TimeBucket } from "../time/bucket.js";
import type { DateWindow } from "../time/date-window.js";
import type { GroupColumn } from "./aggregate-source.js";
import type { ChargebackFilters } from "./scan.js";

export interface BreakdownInput {
  readonly window: DateWindow;
  /** Start of the compared period, in seconds since 1970. */
  readonly comparedFrom?: number | undefined;
  /** End of the compared period; the start of the window by default. */
  readonly comparedTo?: number | undefined;
  readonly filters: ChargebackFilters;
  readonly groupBy: readonly GroupColumn[];
  /** Returns amounts over time if set. */
  readonly timeBucket?: TimeBucket | undefined;
  /** Groups per currency. */
  readonly limit: number;
  readonly order: BreakdownOrder;
  /** How many groups per currency to return that changed most, besides the largest; 0 without a comparison. */
  readonly movers: number;
  /** Only groups with this text in a value or a name, ignoring case. */
  readonly search?: string | undefined;
}

export const breakdownOrders = ["amount", "change"] as const;
export type BreakdownOrder = (typeof breakdownOrders)[number];

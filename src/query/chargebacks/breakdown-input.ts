/** The input of a breakdown. */
import type { TimeBucket } from "../time/bucket.js";
import type { DateWindow } from "../time/date-window.js";
import type { GroupColumn } from "./aggregate-source.js";
import type { ChargebackFilters } from "./scan.js";

export interface BreakdownInput {
  readonly window: DateWindow;
  /** Start of the period that is compared, in seconds since 1970. */
  readonly comparedFrom?: number | undefined;
  /** Where it ends; where the window begins unless given. */
  readonly comparedTo?: number | undefined;
  readonly filters: ChargebackFilters;
  readonly groupBy: readonly GroupColumn[];
  /** Without one there are no amounts over time. */
  readonly timeBucket?: TimeBucket | undefined;
  /** Groups of each currency. */
  readonly limit: number;
  readonly order: BreakdownOrder;
  /** Beside the groups, so many of each currency that changed most; 0 where nothing is compared. */
  readonly movers: number;
  /** Only groups of which a value or a name has this text, in whatever case. */
  readonly search?: string | undefined;
}

export const breakdownOrders = ["amount", "change"] as const;
export type BreakdownOrder = (typeof breakdownOrders)[number];

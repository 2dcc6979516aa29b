import type { Ledger } from "../../store/ledger.js";

export interface StagedDays {
  readonly epoch: number;
  readonly days: readonly string[];
}

/** What lines of a ledger were measured by. */
export interface MeasuredFacts {
  readonly ledger: Ledger;
  /** Only lines of these count. Left out: all lines. */
  readonly productTypes?: readonly string[];
  /** Rules that the days are to be allocated by. Left out: whatever is published was measured by all metrics. */
  readonly rulesHash?: string;
}

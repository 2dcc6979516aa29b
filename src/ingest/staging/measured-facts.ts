import type { Ledger } from "../../domain/ledger.js";

export interface StagedDays {
  readonly epoch: number;
  readonly days: readonly string[];
}

/** The facts that measure lines of a ledger. */
export interface MeasuredFacts {
  readonly ledger: Ledger;
  /** Only lines of these types count. Default: all lines. */
  readonly productTypes?: readonly string[];
  /** Rules that the days will be allocated by. Left out: the published days are taken to be measured by all metrics. */
  readonly rulesHash?: string;
}

/** What a check of a file comes to. `--json` prints it as it is. */
import type { FocusVersion } from "../version.js";
import type { CheckText } from "./check.js";

export interface FocusReport {
  readonly file: string;
  readonly format: "CSV" | "Parquet";
  readonly compression: "none" | "gz" | "zstd";
  readonly focus_version: FocusVersion;
  /** False where the version was given. */
  readonly version_detected: boolean;
  readonly rows: number;
  /** The first of them by time, with as many more as `more_billing_periods` says. */
  readonly billing_periods: readonly BillingPeriod[];
  readonly more_billing_periods: number;
  /** From the first start of a charge to the last end; null where the file has no dates. */
  readonly charge_period: { readonly start: string | null; readonly end: string | null };
  readonly totals: readonly CurrencyTotals[];
  readonly more_currencies: number;
  readonly errors: number;
  readonly warnings: number;
  /** Errors first, in the order of the list of checks. */
  readonly findings: readonly Finding[];
}

export interface BillingPeriod {
  readonly start: string | null;
  readonly end: string | null;
  readonly rows: number;
}

/** Exact sums; null where the file has no such column, or no number in it. */
export type CurrencyTotals = { readonly currency: string | null; readonly rows: number } & {
  readonly [Cost in (typeof costs)[number]]: string | null;
};

export const costs = ["BilledCost", "EffectiveCost", "ListCost", "ContractedCost"] as const;

export interface Finding extends CheckText {
  readonly column: string;
  /** Rows, or groups of rows; 1 for a column. */
  readonly count: number;
  readonly examples: readonly Example[];
}

export interface Example {
  /** Of the file's rows without the header, from 1; null for a column. For a group of rows it is the first of them. */
  readonly row: number | null;
  readonly value: string | null;
}

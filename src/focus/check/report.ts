/** The report about a file. `--json` prints it unchanged. */
import type { FocusVersion } from "../version.js";
import type { CheckText } from "./check-types.js";

export interface FocusReport {
  readonly file: string;
  readonly format: "CSV" | "Parquet";
  readonly compression: "none" | "gz" | "zstd";
  readonly focus_version: FocusVersion;
  /** False if the caller specified the version. */
  readonly version_detected: boolean;
  readonly rows: number;
  /** The earliest billing periods. `more_billing_periods` is the number of others. */
  readonly billing_periods: readonly BillingPeriod[];
  readonly more_billing_periods: number;
  /** Earliest start and latest end of a charge; null if the file has no dates. */
  readonly charge_period: { readonly start: string | null; readonly end: string | null };
  readonly totals: readonly CheckedTotals[];
  readonly more_currencies: number;
  readonly errors: number;
  readonly warnings: number;
  /** Errors first, then in the order of the list of checks. */
  readonly findings: readonly CheckFinding[];
}

export interface BillingPeriod {
  readonly start: string | null;
  readonly end: string | null;
  readonly rows: number;
}

/** Exact sums; null if the file has no such column, or no number in it. */
export type CheckedTotals = { readonly currency: string | null; readonly rows: number } & {
  readonly [Cost in (typeof costs)[number]]: string | null;
};

export const costs = ["BilledCost", "EffectiveCost", "ListCost", "ContractedCost"] as const;

export interface CheckFinding extends CheckText {
  readonly column: string;
  /** Number of rows or groups of rows; 1 for a column. */
  readonly count: number;
  readonly examples: readonly FindingExample[];
}

export interface FindingExample {
  /** Row number from 1, without the header; null for a column. For a group of rows, its first row. */
  readonly row: number | null;
  readonly value: string | null;
}

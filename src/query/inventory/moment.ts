/** The time that a request for inventory means: the present, an instant, or a period. */
import { InvalidParameterError } from "../time/date-window.js";

/** Instants that `isInstant` accepts. */
export interface MomentInput {
  readonly active_at?: string | undefined;
  readonly period_start?: string | undefined;
  readonly period_end?: string | undefined;
}

export type Moment =
  | { readonly kind: "present" }
  | { readonly kind: "instant"; readonly at: string }
  /** `[start, end)`. */
  | { readonly kind: "period"; readonly start: string; readonly end: string };

export function momentOf({ active_at, period_start, period_end }: MomentInput): Moment {
  if (active_at !== undefined) {
    if (period_start === undefined && period_end === undefined) return { kind: "instant", at: active_at };
    const both =
      "`active_at` cannot be combined with `period_start` or `period_end`: request an instant or a period.";
    throw new InvalidParameterError("active_at", both);
  }
  if (period_start === undefined && period_end === undefined) return { kind: "present" };
  if (period_start === undefined) throw missing("period_start", "period_end");
  if (period_end === undefined) throw missing("period_end", "period_start");
  if (Date.parse(period_start) > Date.parse(period_end)) {
    throw new InvalidParameterError("period_start", "`period_start` must not be later than `period_end`.");
  }
  return { kind: "period", start: period_start, end: period_end };
}

function missing(name: string, given: string): InvalidParameterError {
  return new InvalidParameterError(
    name,
    `\`${name}\` is required with \`${given}\`: a period needs both ends.`,
  );
}

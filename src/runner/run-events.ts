import type { DayCheck } from "../allocate/sql/check-conservation.js";
import type { PublishedDayRows } from "./sql/published.js";

/** Events of runs, for metrics and progress bars. Every method is cheap and never throws. */
export interface RunListener {
  began?(tenantName: string): void;
  gathered?(tenantName: string, days: number): void;
  pending?(tenantName: string, days: number): void;
  published?(tenantName: string, day: DayCheck): void;
  finished?(tenantName: string, outcome: RunOutcome): void;
  /** A scheduled run found the tenant's previous run still going. */
  skipped?(tenantName: string): void;
  suspended?(tenantName: string): void;
}

export interface RunOutcome {
  readonly status: "completed" | "completed_with_errors" | "failed";
  readonly rows: number;
  readonly calculated: number;
  readonly failedDays: number;
  readonly conservationFailures: number;
  readonly seconds: number;
  /** The published days; undefined if the run ended early. */
  readonly published?: PublishedDayRows | undefined;
}

/** Forwards events to several observers. */
export function notifyAll(observers: readonly RunListener[]): Required<RunListener> {
  return {
    began: (tenant) => observers.forEach((each) => void each.began?.(tenant)),
    gathered: (tenant, days) => observers.forEach((each) => void each.gathered?.(tenant, days)),
    pending: (tenant, days) => observers.forEach((each) => void each.pending?.(tenant, days)),
    published: (tenant, day) => observers.forEach((each) => void each.published?.(tenant, day)),
    finished: (tenant, outcome) => observers.forEach((each) => void each.finished?.(tenant, outcome)),
    skipped: (tenant) => observers.forEach((each) => void each.skipped?.(tenant)),
    suspended: (tenant) => observers.forEach((each) => void each.suspended?.(tenant)),
  };
}

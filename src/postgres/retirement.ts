/**
 * Decides what a newer delivery of a scope replaces: the accounts and billing periods of its lines. File names do not
 * matter, so `latest.csv` that moves on to the next month removes nothing of the last one.
 */
import { addDays } from "../common/days.js";
import type { PgStatement } from "./statement.js";

/** Lines of one billing account and billing period. Days are UTC, and null if no line has a readable date. */
export interface PeriodOfLines {
  readonly account: string;
  /** `YYYY-MM`. Empty for lines without a readable date. */
  readonly period: string;
  readonly first_day: string | null;
  readonly last_day: string | null;
}

/** Lines of a delivery that do not count. */
export interface UncountedLines {
  readonly account: string;
  readonly period: string;
  /** First and last day. Null: all days. */
  readonly from: string | null;
  readonly to: string | null;
  /** Numbers of the files. Null: all files. */
  readonly files: readonly number[] | null;
}

export interface OldDelivery {
  /** Null if it was not recorded. */
  readonly periods: readonly PeriodOfLines[] | null;
  readonly retired: readonly UncountedLines[];
}

export interface DeliveryToRetire {
  /** `YYYY-MM` that an exporter or a path names. Null if only the lines tell. */
  readonly billing_period: string | null;
  readonly periods: readonly PeriodOfLines[];
}

/**
 * True if the whole scope is replaced: by a delivery for a named month that has lines of that month, or no lines at
 * all.
 */
export function replacesWhole({ billing_period: named, periods }: DeliveryToRetire): boolean {
  return named !== null && (periods.length === 0 || periods.some(({ period }) => period === named));
}

/**
 * Returns all parts of an old delivery that no longer count, including earlier ones. Undefined if nothing of it counts.
 * If no month is named, days before the first and after the last day of the newer delivery stay, because a file may
 * contain the last 30 days.
 */
export function retirement(old: OldDelivery, newer: DeliveryToRetire): readonly UncountedLines[] | undefined {
  if (old.periods === null || replacesWhole(newer)) return undefined;
  const replaced = newer.periods
    .filter(({ period }) => period !== "")
    .map(({ account, period, first_day, last_day }): UncountedLines => {
      return { account, period, from: first_day, to: last_day, files: null };
    })
    .filter((lines) => old.periods?.some((part) => isSamePeriod(lines, part)));
  const retired = [...old.retired, ...replaced];
  const stays = old.periods.some((part) => part.period !== "" && !isCovered(part, retired));
  return stays ? retired : undefined;
}

const isSamePeriod = (a: PeriodOfLines | UncountedLines, b: PeriodOfLines | UncountedLines) =>
  a.account === b.account && a.period === b.period;

/** Returns whether all days of a part are retired. Ranges may be adjacent. */
function isCovered(part: PeriodOfLines, retired: readonly UncountedLines[]): boolean {
  const ranges = retired
    .filter((lines) => isSamePeriod(lines, part))
    .sort((a, b) => ((a.from ?? "") < (b.from ?? "") ? -1 : 1));
  let from = part.first_day;
  for (const range of ranges) {
    if (range.from === null || range.to === null || from === null) return true;
    if (range.from > from) return false;
    if (range.to >= from) from = addDays(range.to, 1);
    if (part.last_day !== null && from > part.last_day) return true;
  }
  return false;
}

export interface Retirement {
  readonly delivery_id: string;
  /** Everything of it that does not count. Undefined if nothing of it counts. */
  readonly retired: readonly UncountedLines[] | undefined;
}

/** Returns the current deliveries that a newer one of their scope changes. */
export function retirementsOf(
  old: readonly (OldDelivery & { readonly delivery_id: string })[],
  newer: DeliveryToRetire,
): Retirement[] {
  return old.flatMap((delivery) => {
    const retired = retirement(delivery, newer);
    return retired?.length === delivery.retired.length
      ? []
      : [{ delivery_id: delivery.delivery_id, retired }];
  });
}

export function retireDelivery({ delivery_id, retired }: Retirement): PgStatement {
  return retired === undefined
    ? {
        query:
          "UPDATE deliveries SET state = 'replaced', replaced_at = now(), problem = NULL WHERE delivery_id = $1 AND state = 'current'",
        params: [delivery_id],
      }
    : {
        query: "UPDATE deliveries SET retired = $2::jsonb WHERE delivery_id = $1 AND state = 'current'",
        params: [delivery_id, JSON.stringify(retired)],
      };
}

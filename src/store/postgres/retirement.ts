/**
 * What a newer delivery of a scope takes the place of: the accounts and billing periods of its lines. The name of a file does not decide, so
 * `latest.csv` that moves on to the next month takes nothing of the last one away.
 */
import { addDays } from "../../time/days.js";
import type { Statement } from "./statement.js";

/** Lines of one billing account and billing period. Days are UTC; null where no line has a readable date. */
export interface PeriodOfLines {
  readonly account: string;
  /** `YYYY-MM`; empty for lines without a readable date. */
  readonly period: string;
  readonly first_day: string | null;
  readonly last_day: string | null;
}

/** Lines of a delivery that do not count. */
export interface Uncounted {
  readonly account: string;
  readonly period: string;
  /** The first and the last day; null for all. */
  readonly from: string | null;
  readonly to: string | null;
  /** Numbers of the files; null for all. */
  readonly files: readonly number[] | null;
}

export interface OldDelivery {
  /** Null where nobody has recorded it. */
  readonly periods: readonly PeriodOfLines[] | null;
  readonly retired: readonly Uncounted[];
}

export interface NewDelivery {
  /** `YYYY-MM` that an exporter or a path names; null where only the lines say. */
  readonly billing_period: string | null;
  readonly periods: readonly PeriodOfLines[];
}

/** Whether all of the scope is replaced: a month that is named, by a delivery that has lines of it or none at all. */
export function replacesWhole({ billing_period: named, periods }: NewDelivery): boolean {
  return named !== null && (periods.length === 0 || periods.some(({ period }) => period === named));
}

/**
 * What of an old delivery does not count any more, with what did not count before; undefined when nothing of it counts. Where no month is named,
 * days before the first and behind the last one of the newer delivery stay: a file may hold the last 30 days.
 */
export function retirement(old: OldDelivery, newer: NewDelivery): readonly Uncounted[] | undefined {
  if (old.periods === null || replacesWhole(newer)) return undefined;
  const gone = newer.periods
    .filter(({ period }) => period !== "")
    .map(({ account, period, first_day, last_day }): Uncounted => {
      return { account, period, from: first_day, to: last_day, files: null };
    })
    .filter((each) => old.periods?.some((part) => isOf(each, part)));
  const retired = [...old.retired, ...gone];
  const stays = old.periods.some((part) => part.period !== "" && !isCovered(part, retired));
  return stays ? retired : undefined;
}

const isOf = (a: PeriodOfLines | Uncounted, b: PeriodOfLines | Uncounted) =>
  a.account === b.account && a.period === b.period;

/** Whether the days of a part are all retired, by ranges that may lie side by side. */
function isCovered(part: PeriodOfLines, retired: readonly Uncounted[]): boolean {
  const ranges = retired
    .filter((each) => isOf(each, part))
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
  /** All that does not count of it; undefined when nothing counts. */
  readonly retired: readonly Uncounted[] | undefined;
}

/** Of deliveries that count, those that a newer one of their scope changes. */
export function retirementsOf(
  old: readonly (OldDelivery & { readonly delivery_id: string })[],
  newer: NewDelivery,
): Retirement[] {
  return old.flatMap((each) => {
    const retired = retirement(each, newer);
    return retired?.length === each.retired.length ? [] : [{ delivery_id: each.delivery_id, retired }];
  });
}

export function retireDelivery({ delivery_id, retired }: Retirement): Statement {
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

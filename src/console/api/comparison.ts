/** Compares the sums of a period with those of the period before, and counts the complete days of both. */
import { addDays } from "../../common/days.js";
import { currentDay, dayCount } from "../state/days.js";
import { type Period, periodBefore, periodParameters } from "../state/period.js";
import { cachedFor } from "../state/use-data.js";
import { type BreakdownRequest, loadBreakdown, type ShownBreakdown } from "./breakdown.js";
import { api, bodyOf, type Schemas } from "./client.js";

export interface PeriodComparison {
  /** The period to compare with, cut to as many days as the shown period has costs for. */
  readonly before: Period;
  /** Days at the end of the period that have no costs yet. */
  readonly missing: Period | undefined;
  /** Complete days of both periods; undefined if the state of the days could not be loaded. */
  readonly days: { readonly now: DayCount; readonly before: DayCount } | undefined;
}

interface DayCount {
  readonly complete: number;
  readonly total: number;
}

/** A breakdown together with its request, so that sums are never shown under the days of another request. */
export interface BreakdownResult {
  readonly breakdown: ShownBreakdown;
  readonly request: BreakdownRequest;
  /** Undefined if the request does not compare. */
  readonly comparison: PeriodComparison | undefined;
}

export async function loadCompared(request: BreakdownRequest, signal: AbortSignal): Promise<BreakdownResult> {
  if (request.compare !== true)
    return { request, breakdown: await loadBreakdown(request, signal), comparison: undefined };
  const comparison = await loadComparison(request.tenant, request.period, signal);
  const comparedRequest = { ...request, before: comparison.before };
  return { request: comparedRequest, breakdown: await loadBreakdown(comparedRequest, signal), comparison };
}

/** Whether both periods are complete. Only then is a change shown as an increase or a decrease of costs. */
export function isLikeWithLike({ days }: PeriodComparison): boolean {
  return days !== undefined && isWhole(days.now) && isWhole(days.before);
}

export const isWhole = ({ complete, total }: DayCount) => complete === total;

async function loadComparison(
  tenant: string,
  period: Period,
  signal: AbortSignal,
): Promise<PeriodComparison> {
  const before = periodBefore(period);
  const params = {
    path: { tenant_name: tenant },
    query: periodParameters(withYearUntilToday({ first: before.first, last: period.last })),
  };
  const load = () => bodyOf(api.GET("/api/v1/tenants/{tenant_name}/status", { params, signal }));
  const days = await cachedFor(DAYS_CACHE_MS, JSON.stringify(["days", params]), load).catch(
    (error: unknown) => {
      if (signal.aborted) throw error;
      return undefined;
    },
  );
  return days === undefined ? { before, missing: undefined, days } : compared(period, before, days);
}

const DAYS_CACHE_MS = 60_000;
/** The days of a whole year are loaded at once, so that the next periods a user selects are cached already. */
const DAYS_PER_REQUEST = 365;

/** Extends the period to the last year up to today. */
function withYearUntilToday({ first, last }: Period): Period {
  const yearAgo = addDays(currentDay(), -DAYS_PER_REQUEST);
  return { first: first < yearAgo ? first : yearAgo, last: last > currentDay() ? last : currentDay() };
}

type Day = Schemas["TrackingDate"];

function compared(period: Period, previous: Period, days: readonly Day[]): PeriodComparison {
  const latest = within(period, days)
    .filter(({ state }) => state === "published" || state === "outdated")
    .at(-1)?.tracking_date;
  const last = latest ?? period.last;
  const isCut = last < period.last;
  const end = addDays(previous.first, dayCount(period.first, last) - 1);
  const before = isCut && end < previous.last ? { first: previous.first, last: end } : previous;
  return {
    before,
    missing: isCut ? { first: addDays(last, 1), last: period.last } : undefined,
    days: { now: counted({ first: period.first, last }, days), before: counted(before, days) },
  };
}

function counted(period: Period, days: readonly Day[]): DayCount {
  const complete = within(period, days).filter(
    ({ state, provisional }) => !provisional && (state === "published" || state === "no_bill"),
  );
  return { complete: complete.length, total: dayCount(period.first, period.last) };
}

const within = ({ first, last }: Period, days: readonly Day[]) =>
  days.filter(({ tracking_date: day }) => day >= first && day <= last);

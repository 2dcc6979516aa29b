/** Compares the sums of a period with those of the period before, and counts the complete days of both. */
import { isComplete, isCovered } from "../../common/coverage.js";
import { addDays } from "../../common/days.js";
import { currentDay, dayCount } from "../state/days.js";
import { type Period, periodBefore, periodParameters } from "../state/period.js";
import { cachedFor } from "../state/use-data.js";
import { type BreakdownRequest, loadBreakdown, type ShownBreakdown } from "./breakdown.js";
import type { Schemas } from "./client.js";
import { get } from "./use-api.js";

export interface PeriodComparison {
  /** The period to compare with, cut to as many days as the shown period has costs for. */
  readonly before: Period;
  /** Days at the end of the period that have no costs yet. */
  readonly missing: Period | undefined;
  /** The first day that has costs, if the previous period ends before it: there is nothing to compare with. */
  readonly firstDay: string | undefined;
  /** Complete days of both periods; undefined if the state of the days could not be loaded. */
  readonly days: { readonly now: DayCount; readonly before: DayCount } | undefined;
}

interface DayCount {
  readonly complete: number;
  readonly total: number;
}

export interface BreakdownResult {
  readonly breakdown: ShownBreakdown;
  readonly request: BreakdownRequest;
  /** Undefined if the request does not compare. */
  readonly comparison: PeriodComparison | undefined;
  /** Days whose costs are there; undefined if that was not needed or could not be loaded. */
  readonly coveredDays: ReadonlySet<string> | undefined;
  /** What explains costs of some days; empty if it could not be loaded. */
  readonly events: readonly CostEvent[];
}

export type CostEvent = Schemas["CostEvent"];

export async function loadCompared(request: BreakdownRequest, signal: AbortSignal): Promise<BreakdownResult> {
  const { tenant, period, timeBucket } = request;
  const isCompared = request.compare === true;
  const needsDays = isCompared || timeBucket === "week" || timeBucket === "month";
  const previous = request.before ?? periodBefore(period);
  const loading = needsDays ? loadDays(tenant, period, previous.first, signal) : Promise.resolve(undefined);
  const comparison = isCompared ? comparisonOf(period, previous, await loading) : undefined;
  const comparedRequest =
    comparison?.firstDay === undefined
      ? { ...request, before: comparison?.before }
      : { ...request, compare: false, movers: undefined, order: withoutChange(request.order) };
  const [breakdown, days, events] = await Promise.all([
    loadBreakdown(comparedRequest, signal),
    loading,
    loadEvents(tenant, period, signal),
  ]);
  const coveredDays = days && new Set(days.filter(isCovered).map(({ tracking_date: day }) => day));
  return { request: breakdown.request, breakdown, comparison, coveredDays, events };
}

async function loadEvents(
  tenant: string,
  period: Period,
  signal: AbortSignal,
): Promise<readonly CostEvent[]> {
  const params = { path: { tenant_name: tenant }, query: periodParameters(period) };
  const load = () => get("/api/v1/tenants/{tenant_name}/events", params, signal);
  return await cachedFor(DAYS_CACHE_MS, JSON.stringify(["events", params]), load).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return [];
  });
}

/** The days of `previous` to compare a period with. */
export async function loadComparison(
  tenant: string,
  period: Period,
  previous: Period,
  signal: AbortSignal,
): Promise<PeriodComparison> {
  return comparisonOf(period, previous, await loadDays(tenant, period, previous.first, signal));
}

const withoutChange = (order: string | undefined) =>
  order !== undefined && /^(change|previous_amount)\b/.test(order) ? undefined : order;

/** Whether both periods are complete. Only then is a change shown as an increase or a decrease of costs. */
export function isLikeWithLike({ days }: PeriodComparison): boolean {
  return days !== undefined && isWhole(days.now) && isWhole(days.before);
}

export const isWhole = ({ complete, total }: DayCount) => complete === total;

/** The state of the days from `first` to the end of the period; undefined if it could not be loaded. */
async function loadDays(
  tenant: string,
  period: Period,
  first: string,
  signal: AbortSignal,
): Promise<readonly Day[] | undefined> {
  const params = {
    path: { tenant_name: tenant },
    query: periodParameters(withYearUntilToday({ first, last: period.last })),
  };
  const load = () => get("/api/v1/tenants/{tenant_name}/status", params, signal);
  return await cachedFor(DAYS_CACHE_MS, JSON.stringify(["days", params]), load).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return undefined;
  });
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

function comparisonOf(period: Period, previous: Period, days: readonly Day[] | undefined): PeriodComparison {
  if (days === undefined) return { before: previous, missing: undefined, firstDay: undefined, days };
  const charged = days.filter(({ state }) => state === "published" || state === "outdated");
  const latest = within(period, charged).at(-1)?.tracking_date;
  const firstDay = charged[0]?.tracking_date;
  const last = latest ?? period.last;
  const isCut = last < period.last;
  const end = addDays(previous.first, dayCount(period.first, last) - 1);
  const before = isCut && end < previous.last ? { first: previous.first, last: end } : previous;
  return {
    before,
    firstDay: firstDay !== undefined && firstDay > before.last ? firstDay : undefined,
    missing: isCut ? { first: addDays(last, 1), last: period.last } : undefined,
    days: { now: counted({ first: period.first, last }, days), before: counted(before, days) },
  };
}

function counted(period: Period, days: readonly Day[]): DayCount {
  const complete = within(period, days).filter(isComplete);
  return { complete: complete.length, total: dayCount(period.first, period.last) };
}

const within = ({ first, last }: Period, days: readonly Day[]) =>
  days.filter(({ tracking_date: day }) => day >= first && day <= last);

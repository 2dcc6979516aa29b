/** Sums beside those of the period before: like with like, and how far the days of both are. */
import { daysBetween, shifted, today } from "../state/days.js";
import { asParameters, type Period, periodBefore } from "../state/period.js";
import { keptFor } from "../state/use-data.js";
import { askBreakdown, type Breakdown, type BreakdownQuestion } from "./breakdown.js";
import { api, bodyOf, type Schemas } from "./client.js";

export interface Comparison {
  /** What the period is compared with: as many of its days as have arrived of the period. */
  readonly before: Period;
  /** Days at the end of the period that have no costs yet. */
  readonly missing: Period | undefined;
  /** How many days of both are there as a whole; undefined where nobody knows. */
  readonly days: { readonly now: Counted; readonly before: Counted } | undefined;
}

interface Counted {
  readonly complete: number;
  readonly all: number;
}

/** An answer with what it is an answer to, so that its sums never stand under other days. */
export interface Answer {
  readonly found: Breakdown;
  readonly question: BreakdownQuestion;
  /** Only where the question compares. */
  readonly comparison: Comparison | undefined;
}

export async function askCompared(question: BreakdownQuestion, signal: AbortSignal): Promise<Answer> {
  if (question.compare !== true)
    return { question, found: await askBreakdown(question, signal), comparison: undefined };
  const comparison = await askComparison(question.tenant, question.period, signal);
  const asked = { ...question, before: comparison.before };
  return { question: asked, found: await askBreakdown(asked, signal), comparison };
}

/** Whether both have all of their days: a change is good or bad news only then. */
export function isLikeWithLike({ days }: Comparison): boolean {
  return days !== undefined && isWhole(days.now) && isWhole(days.before);
}

export const isWhole = ({ complete, all }: Counted) => complete === all;

async function askComparison(tenant: string, period: Period, signal: AbortSignal): Promise<Comparison> {
  const before = periodBefore(period);
  const params = {
    path: { tenant_name: tenant },
    query: asParameters(around({ first: before.first, last: period.last })),
  };
  const ask = () => bodyOf(api.GET("/api/v1/tenants/{tenant_name}/status", { params, signal }));
  const days = await keptFor(A_MOMENT, JSON.stringify(["days", params]), ask).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return undefined;
  });
  return days === undefined ? { before, missing: undefined, days } : compared(period, before, days);
}

const A_MOMENT = 60_000;
/** Days of a year at once, so that the next periods that somebody looks at need not be asked for. */
const DAYS_AT_ONCE = 365;

/** The period and what lies around it, up to today. */
function around({ first, last }: Period): Period {
  const far = shifted(today(), -DAYS_AT_ONCE);
  return { first: first < far ? first : far, last: last > today() ? last : today() };
}

type Day = Schemas["TrackingDate"];

function compared(period: Period, whole: Period, days: readonly Day[]): Comparison {
  const latest = within(period, days)
    .filter(({ state }) => state === "published" || state === "outdated")
    .at(-1)?.tracking_date;
  const last = latest ?? period.last;
  const isCut = last < period.last;
  const end = shifted(whole.first, daysBetween(period.first, last) - 1);
  const before = isCut && end < whole.last ? { first: whole.first, last: end } : whole;
  return {
    before,
    missing: isCut ? { first: shifted(last, 1), last: period.last } : undefined,
    days: { now: counted({ first: period.first, last }, days), before: counted(before, days) },
  };
}

function counted(period: Period, days: readonly Day[]): Counted {
  const complete = within(period, days).filter(
    ({ state, provisional }) => !provisional && (state === "published" || state === "no_bill"),
  );
  return { complete: complete.length, all: daysBetween(period.first, period.last) };
}

const within = ({ first, last }: Period, days: readonly Day[]) =>
  days.filter(({ tracking_date: day }) => day >= first && day <= last);

/**
 * One window of a tenant whose costs are metered: each day's lines, the usage of its identities, and who is named in the
 * configuration.
 *
 * A product whose samples cannot be had, or are not there, has no price on that day, and what happens to the day is the
 * ecosystem's to say (`whenUnmeasured`): it has no bill at all, or it is billed for what needs no samples.
 */
import pLimit from "p-limit";
import { dayOfSeconds, daysOfWindow } from "../../time/days.js";
import { UpstreamError } from "../../upstream-http/upstream-error.js";
import type { DayWindow, WindowSink } from "../ecosystem.js";
import type { Dropped, PrometheusSource } from "../prometheus/source.js";
import type { WindowReport } from "../reports.js";
import { controlOfWindow } from "./control.js";
import { type CostSamples, costSamples } from "./cost-samples.js";
import { type FirstDay, firstDayNote } from "./first-day.js";
import type { MeteredProduct } from "./price-day.js";
import type { HeardQuery, ReplicaNotes } from "./replica-notes.js";
import { firstDayNotes, type Measured, sendBill } from "./send-bill.js";
import type { SilentMetrics } from "./silent-metrics.js";
import { gatherUsage, type UsageMetric } from "./usage.js";

export interface MeteredTenant {
  /** The one resource that everything is billed and measured for. */
  readonly resourceId: string;
  /** What all prices are in. */
  readonly currency: string;
  readonly products: readonly MeteredProduct[];
  readonly usage: readonly UsageMetric[];
  /** Identities that are active on every day, because the configuration names them. */
  readonly namedIdentities: readonly string[];
  /**
   * `no_bill`: a day that lacks all samples of a product is incomplete, and an upstream that is down fails the window.
   * `partial_bill`: it is billed for the others, as a partial day that is provisional as one without its usage is.
   */
  readonly whenUnmeasured: "no_bill" | "partial_bill";
  /** Undefined when nothing is asked of Prometheus. */
  readonly source: PrometheusSource | undefined;
  /** Days before it are not there. Undefined when nothing is asked of Prometheus. */
  readonly firstDay: FirstDay | undefined;
  readonly silent: SilentMetrics | undefined;
  readonly replicas: ReplicaNotes | undefined;
  readonly stepSeconds: number;
  readonly parallelQueries: number;
}

export async function gatherMeteredWindow(
  tenant: MeteredTenant,
  window: DayWindow,
  sink: WindowSink,
  signal: AbortSignal,
): Promise<WindowReport> {
  const counts: Record<string, number> = {};
  const dropped = (reason: string) => {
    counts[reason] = (counts[reason] ?? 0) + 1;
  };
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const limit = pLimit(tenant.parallelQueries);
  const refusals: string[] = [];
  const asking = { dropped, refused: (reason: string) => void refusals.push(reason) };
  const bill = tenant.products.map((product) =>
    limit(async () => ({ product, samples: await samplesOf(tenant, product, window, asking, either) })),
  );
  /** Metric → start of its last step with usage. */
  const heard = new Map<string, number>();
  let firstHeard: number | undefined;
  const listening: WindowSink = {
    ...sink,
    usageSeries: async (batch) => {
      for (const { metric, starts } of batch) {
        heard.set(metric, Math.max(heard.get(metric) ?? 0, starts.at(-1) ?? 0));
        firstHeard = Math.min(firstHeard ?? Infinity, starts[0] ?? Infinity);
      }
      await sink.usageSeries(batch);
    },
  };
  const usage = tenant.usage.map((metric) =>
    limit(() =>
      gatherUsage(
        required(tenant.source),
        { ...metric, of: { resource: tenant.resourceId }, stepSeconds: tenant.stepSeconds, window },
        listening,
        dropped,
        either,
      ),
    ),
  );
  try {
    const [measured, gaps] = await Promise.all([Promise.all(bill), Promise.all(usage)]);
    const used = firstHeard === undefined ? [] : [dayOfSeconds(firstHeard)];
    const { absent, notes } = await absentDays(tenant, window, { measured, used }, either);
    const silent = await tenant.silent?.missed({ window, heard, gaps: gaps.flat() }, either);
    const copied = await replicaNotes(tenant, measured, heard, either);
    await sink.usageGaps(gaps.flat().filter(({ day }) => !absent.has(day)));
    await sink.identitySets(namedMembers(tenant, window));
    const days = daysOfWindow(window).filter((day) => !absent.has(day));
    const said = [...notes, ...(silent ?? []), ...copied];
    const { costs, ...report } = await sendBill(tenant, days, measured, sink);
    const partly = firstDayNotes(measured);
    const [refused] = refusals;
    return {
      ...report,
      control: controlOfWindow(tenant, window, { measured, absent, costs }),
      dropped: counts,
      ...(said.length > 0 && { notes: said }),
      ...(partly.length > 0 && { dayNotes: partly }),
      ...(refused !== undefined && { refused }),
    };
  } catch (error) {
    stop.abort(error); // the other queries of the window are for nothing
    await Promise.allSettled([...bill, ...usage]); // and none may write to the sink after this
    signal.throwIfAborted();
    throw error;
  }
}

const NOTHING_TO_MEASURE: CostSamples = {
  ...{ sums: new Map(), failed: new Map(), partly: new Map() },
  first: undefined,
};

async function samplesOf(
  { source, stepSeconds, whenUnmeasured }: MeteredTenant,
  { quantity }: MeteredProduct,
  window: DayWindow,
  { dropped, refused }: { readonly dropped: Dropped; readonly refused: (reason: string) => void },
  signal: AbortSignal,
): Promise<CostSamples> {
  if (quantity.type === "fixed") return NOTHING_TO_MEASURE;
  const query = { expression: quantity.query, window, stepSeconds };
  try {
    return await costSamples(required(source), query, dropped, signal);
  } catch (error) {
    if (whenUnmeasured === "no_bill" || !(error instanceof UpstreamError) || signal.aborted) throw error;
    if (error.code === "unauthorized") refused(error.message);
    const failed = new Map(daysOfWindow(window).map((day) => [day, error.message]));
    return { ...NOTHING_TO_MEASURE, failed };
  }
}

interface Absent {
  readonly absent: ReadonlySet<string>;
  readonly notes: readonly string[];
}

const NONE_ABSENT: Absent = { absent: new Set(), notes: [] };

/** Days that lie before the first sample of the upstream. It is asked only where samples are missing. `used`: the first day with usage. */
async function absentDays(
  { firstDay, whenUnmeasured }: MeteredTenant,
  window: DayWindow,
  { measured, used }: { readonly measured: readonly Measured[]; readonly used: readonly string[] },
  signal: AbortSignal,
): Promise<Absent> {
  const metered = measured.filter(({ product }) => product.quantity.type !== "fixed");
  const days = daysOfWindow(window);
  const lacking = days.filter((day) =>
    metered.some(
      ({ samples }) => ![samples.sums, samples.failed, samples.partly].some((each) => each.has(day)),
    ),
  );
  const hasSamples = ({ samples }: Measured, day: string) => samples.sums.has(day) || samples.partly.has(day);
  const billed = days.filter((day) =>
    whenUnmeasured === "no_bill"
      ? metered.every((each) => hasSamples(each, day))
      : metered.some((each) => hasSamples(each, day)),
  );
  for (const day of (metered.length > 0 ? billed : used).slice(0, 1)) firstDay?.measured(day);
  if (firstDay === undefined || (metered.length > 0 && lacking.length === 0)) return NONE_ABSENT;
  const first = await firstDay.of(window, signal);
  if (first === undefined) return NONE_ABSENT;
  const absent = new Set(days.filter((day) => day < first));
  return { absent, notes: absent.size === 0 ? [] : [firstDayNote(first)] };
}

async function replicaNotes(
  { usage, replicas }: MeteredTenant,
  measured: readonly Measured[],
  heard: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<string[]> {
  if (replicas === undefined) return [];
  const queries: HeardQuery[] = [
    ...measured.flatMap(({ product: { name, quantity }, samples }) => {
      const [last] = [...samples.sums.values()]
        .map((ofDay) => Math.max(...ofDay.keys()))
        .sort((a, b) => b - a);
      return quantity.type === "fixed"
        ? []
        : [{ name: `cost ${name}`, expression: quantity.query, step: last }];
    }),
    ...usage.flatMap(({ metric, measure, expression, label }) =>
      measure === "seen" ? [] : [{ name: `usage ${metric}`, expression, label, step: heard.get(metric) }],
    ),
  ];
  return (await Promise.all(queries.map((query) => replicas.of(query, signal)))).flat();
}

function namedMembers({ resourceId, namedIdentities }: MeteredTenant, window: DayWindow) {
  return daysOfWindow(window).flatMap((day) =>
    namedIdentities.map((identity_id) => ({
      day,
      scope: "resource_active" as const,
      resource_id: resourceId,
      identity_id,
    })),
  );
}

function required(source: PrometheusSource | undefined): PrometheusSource {
  if (source === undefined) throw new Error("settings that were not checked: a query without metrics");
  return source;
}

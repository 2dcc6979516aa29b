/**
 * Gathers one window of a metered tenant: each day's lines, the usage of its identities, and the identities named in
 * the configuration.
 *
 * A product without samples has no price on that day, because they could not be fetched or do not exist. The ecosystem
 * decides about such a day (`whenUnmeasured`): it has no bill, or it is billed for the products that need no samples.
 */
import pLimit from "p-limit";
import { type DayRange, dayOfSeconds, daysOfWindow } from "../../common/days.js";
import type { ControlTotal } from "../../domain/control-totals.js";
import { UpstreamError } from "../../upstream/http/upstream-error.js";
import type { WindowSink } from "../ecosystem.js";
import type { PrometheusSource } from "../prometheus/source.js";
import type { Dropped } from "../prometheus/visit-samples.js";
import type { WindowReport } from "../reports.js";
import { controlOfWindow } from "./control.js";
import { type CostSamples, costSamples } from "./cost-samples.js";
import { firstDayNote } from "./first-day.js";
import type { MeteredTenant } from "./metered-tenant.js";
import type { MeteredProduct } from "./price-day.js";
import { addLastSteps, type LastSteps, type SampledQuery, sampledUsage } from "./replica-notes.js";
import { costsOf, firstDayNotes, type Measured, sendBill } from "./send-bill.js";
import { gatherMeteredUsage } from "./usage.js";

export async function gatherMeteredWindow(
  tenant: MeteredTenant,
  window: DayRange,
  sink: WindowSink,
  signal: AbortSignal,
): Promise<WindowReport> {
  const counts: Record<string, number> = {};
  const dropped = (reason: string) => {
    counts[reason] = (counts[reason] ?? 0) + 1;
  };
  const stop = new AbortController();
  const stopSignal = AbortSignal.any([signal, stop.signal]);
  const limit = pLimit(tenant.parallelQueries);
  const refusals: string[] = [];
  const callbacks = { dropped, refused: (reason: string) => void refusals.push(reason) };
  const bill = tenant.products.map((product) =>
    limit(async () => ({
      product,
      samples: await samplesOf(tenant, product, window, callbacks, stopSignal),
    })),
  );
  const lastSteps: LastSteps = new Map();
  let firstStep: number | undefined;
  const countingSink: WindowSink = {
    ...sink,
    usageSeries: async (batch) => {
      addLastSteps(lastSteps, batch);
      for (const { starts } of batch) firstStep = Math.min(firstStep ?? Infinity, starts[0] ?? Infinity);
      await sink.usageSeries(batch);
    },
  };
  const usage = tenant.usage.map((metric) =>
    limit(() =>
      gatherMeteredUsage(
        required(tenant.source),
        { ...metric, of: { resource: tenant.resourceId }, stepSeconds: tenant.stepSeconds, window },
        countingSink,
        dropped,
        stopSignal,
      ),
    ),
  );
  try {
    const [measured, gaps] = await Promise.all([Promise.all(bill), Promise.all(usage)]);
    const used = firstStep === undefined ? [] : [dayOfSeconds(firstStep)];
    const { absent, notes } = await absentDays(tenant, window, { measured, used }, stopSignal);
    const silent = await tenant.silent?.missingMetrics(
      { window, measured: lastSteps, gaps: gaps.flat() },
      stopSignal,
    );
    const sampledQueries = [...sampledCosts(measured), ...sampledUsage(tenant.usage, lastSteps)];
    const replicaNotes = (await tenant.replicas?.of(sampledQueries, stopSignal)) ?? [];
    await sink.usageGaps(gaps.flat().filter(({ day }) => !absent.has(day)));
    await sink.identitySets(namedMembers(tenant, window));
    const days = daysOfWindow(window).filter((day) => !absent.has(day));
    const allNotes = [...notes, ...(silent ?? []), ...replicaNotes];
    const { costs, ...report } = await sendBill(tenant, days, measured, sink);
    const partly = firstDayNotes(measured);
    const [refused] = refusals;
    return {
      ...report,
      control: controlOfWindow(tenant, window, { measured, absent, costs }),
      dropped: counts,
      ...(allNotes.length > 0 && { notes: allNotes }),
      ...(partly.length > 0 && { dayNotes: partly }),
      ...(refused !== undefined && { refused }),
    };
  } catch (error) {
    stop.abort(error); // the other queries of the window are useless
    await Promise.allSettled([...bill, ...usage]); // none may write to the sink after this
    signal.throwIfAborted();
    throw error;
  }
}

const NOTHING_TO_MEASURE: CostSamples = {
  sums: new Map(),
  failed: new Map(),
  partly: new Map(),
  first: undefined,
};

async function samplesOf(
  { source, stepSeconds, whenUnmeasured }: MeteredTenant,
  { quantity }: MeteredProduct,
  window: DayRange,
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

/** Returns the control totals of a window whose gathering threw: all samples of its costs failed. */
export function totalsOfFailedWindow(tenant: MeteredTenant, window: DayRange): ControlTotal[] {
  const days = daysOfWindow(window);
  const failed = new Map(days.map((day) => [day, "the window could not be gathered"]));
  const measured = tenant.products.map((product) => ({
    product,
    samples: product.quantity.type === "fixed" ? NOTHING_TO_MEASURE : { ...NOTHING_TO_MEASURE, failed },
  }));
  const costs = costsOf(tenant, days, measured);
  return controlOfWindow(tenant, window, { measured, absent: new Set(), costs });
}

interface Absent {
  readonly absent: ReadonlySet<string>;
  readonly notes: readonly string[];
}

const NONE_ABSENT: Absent = { absent: new Set(), notes: [] };

/**
 * Finds days before the first sample of the upstream, which is queried only if samples are missing. `used`: the first
 * day with usage.
 */
async function absentDays(
  { firstDay, whenUnmeasured }: MeteredTenant,
  window: DayRange,
  { measured, used }: { readonly measured: readonly Measured[]; readonly used: readonly string[] },
  signal: AbortSignal,
): Promise<Absent> {
  const metered = measured.filter(({ product }) => product.quantity.type !== "fixed");
  const days = daysOfWindow(window);
  const daysWithoutSamples = days.filter((day) =>
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
  if (firstDay === undefined || (metered.length > 0 && daysWithoutSamples.length === 0)) return NONE_ABSENT;
  const first = await firstDay.of(window, signal);
  if (first === undefined) return NONE_ABSENT;
  const absent = new Set(days.filter((day) => day < first));
  return { absent, notes: absent.size === 0 ? [] : [firstDayNote(first)] };
}

/** Returns the queries of costs that need samples, each with its last step. */
function sampledCosts(measured: readonly Measured[]): SampledQuery[] {
  return measured.flatMap(({ product: { name, quantity }, samples }) => {
    if (quantity.type === "fixed") return [];
    const lastOfDays = [...samples.sums.values()].map((daySums) => Math.max(...daySums.keys()));
    const step = lastOfDays.length === 0 ? undefined : Math.max(...lastOfDays);
    return [{ name: `cost ${name}`, expression: quantity.query, step }];
  });
}

function namedMembers({ resourceId, namedIdentities }: MeteredTenant, window: DayRange) {
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

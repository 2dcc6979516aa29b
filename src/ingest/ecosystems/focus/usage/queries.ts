/**
 * Usage of a `focus` tenant that is read from Prometheus. The bill is published without it: a failed query is a gap,
 * and the day is provisional.
 */
import pLimit from "p-limit";
import { allOrStop } from "../../../../common/all-or-stop.js";
import type { DayRange } from "../../../../common/days.js";
import type { PluginSettings } from "../../../../config/settings/plugin-settings.js";
import type { GatherContext, Gatherer, UsageSeries, WindowSink } from "../../../ecosystem.js";
import { probeMetered } from "../../../metered/probe.js";
import {
  addLastSteps,
  createReplicaNotes,
  type LastSteps,
  sampledUsage,
} from "../../../metered/replica-notes.js";
import { retentionCovers } from "../../../metered/retention-covers.js";
import { createSilentMetrics } from "../../../metered/silent-metrics.js";
import {
  EVERY_RESOURCE,
  gatherMeteredUsage,
  type UsageMetric,
  type UsageOf,
} from "../../../metered/usage.js";
import { connectPrometheus } from "../../../prometheus/connection.js";
import { withoutRetriesWhenDown } from "../../../prometheus/outage.js";
import { failuresOf, type RangeResponse } from "../../../prometheus/source.js";
import { areUnchanged } from "../../../prometheus/unchanged-responses.js";
import type { WindowReport } from "../../../reports.js";
import { asBilled, type BilledSpellings, otherSpelling } from "./billed-spelling.js";
import type { UsageSettings } from "./settings.js";

export interface UsageQueries extends Required<Pick<Gatherer, "probe" | "retentionCovers">> {
  /** Runs after the bill of the window, whose resources are `billed`. */
  gather(
    window: DayRange,
    billed: BilledSpellings,
    sink: WindowSink,
    signal: AbortSignal,
  ): Promise<QueriedUsage>;
  /**
   * Returns true if every response is the same as before. A failed request is a difference, unless it failed before.
   */
  isUnchanged(responses: readonly RangeResponse[], signal: AbortSignal): Promise<boolean>;
  close(): void;
}

export interface QueriedUsage extends Pick<WindowReport, "dropped" | "notes" | "refused" | "failures"> {
  readonly responses: readonly RangeResponse[];
}

type Settings = PluginSettings & { readonly usage: UsageSettings };

/** Undefined if no usage is read from Prometheus. */
export function connectQueries(
  { metrics, metrics_step_seconds: stepSeconds, usage: { queries } }: Settings,
  context: GatherContext,
): UsageQueries | undefined {
  if (queries.length === 0) return undefined;
  if (metrics === undefined) throw new Error("settings that were not checked: queries without metrics");
  const parallelQueries = context.parallelQueries ?? 4;
  const source = withoutRetriesWhenDown(connectPrometheus(metrics, context));
  const usageMetrics = queries.map(usageMetricOf);
  const silent = createSilentMetrics(source, usageMetrics, stepSeconds);
  const replicas = createReplicaNotes(source, stepSeconds);
  const metered = { source, products: [], usage: usageMetrics, stepSeconds, parallelQueries };

  const caseInsensitive = new Set(
    queries.filter(({ ignore_case }) => ignore_case === true).map(({ metric }) => metric),
  );

  async function gather(
    window: DayRange,
    billed: BilledSpellings,
    sink: WindowSink,
    signal: AbortSignal,
  ): Promise<QueriedUsage> {
    const dropped: Record<string, number> = {};
    const onDropped = (reason: string) => {
      dropped[reason] = (dropped[reason] ?? 0) + 1;
    };
    const refusals: string[] = [];
    const responses: RangeResponse[] = [];
    const lastSteps: LastSteps = new Map();
    const misspelt = misspeltResources(billed);
    const countingSink: WindowSink = {
      ...sink,
      usageSeries: async (batch) => {
        const [metric = ""] = batch.map((series) => series.metric);
        addLastSteps(lastSteps, batch);
        if (caseInsensitive.has(metric)) await sink.usageSeries(asBilled(batch, billed));
        else {
          misspelt.note(metric, batch);
          await sink.usageSeries(batch);
        }
      },
    };
    const stop = new AbortController();
    const stopSignal = AbortSignal.any([signal, stop.signal]);
    const limit = pLimit(parallelQueries);
    const options = {
      window,
      stepSeconds,
      onResponse: (response: RangeResponse) => void responses.push(response),
      onRefused: (reason: string) => void refusals.push(reason),
    };
    const work = usageMetrics.map((query) =>
      limit(() => gatherMeteredUsage(source, { ...query, ...options }, countingSink, onDropped, stopSignal)),
    );
    const gaps = (await allOrStop(stop, work)).flat();
    const notes = [
      ...(await silent.missingMetrics({ window, measured: lastSteps, gaps }, signal)),
      ...misspelt.notes(),
      ...(await replicas.of(sampledUsage(usageMetrics, lastSteps), signal)),
    ];
    await sink.usageGapsOfBilled(
      gaps.map(({ resource_id, ...gap }) => {
        // If a query for all resources fails, it is unknown which ones it would have found.
        if (resource_id === EVERY_RESOURCE) return gap;
        const spelling = caseInsensitive.has(gap.metric) ? otherSpelling(billed, resource_id) : undefined;
        return { ...gap, resource_id: spelling ?? resource_id };
      }),
    );
    const [refused] = refusals;
    const failures = failuresOf(responses);
    return { responses, dropped, notes, failures, ...(refused !== undefined && { refused }) };
  }

  return {
    gather,
    async isUnchanged(responses, signal) {
      try {
        return await areUnchanged(source, responses, parallelQueries, signal);
      } catch {
        signal.throwIfAborted();
        return false;
      }
    },
    retentionCovers: (thinner, signal) => retentionCovers(metered, thinner, signal),
    probe: (window, _resources, signal) => probeMetered(metered, window, signal),
    close: () => source.close(),
  };
}

function usageMetricOf({
  metric,
  query: expression,
  identity_label: label,
  resource_label,
  resource_id,
}: UsageSettings["queries"][number]): UsageMetric & { readonly of: UsageOf } {
  const of = resource_id === undefined ? { label: resource_label ?? "" } : { resource: resource_id };
  return { metric, expression, label, measure: "value", of };
}

/** Collects resources that are billed only in another case. Their usage has no effect as a weight. */
function misspeltResources(billed: BilledSpellings) {
  const found = new Map<string, Map<string, string>>();
  return {
    note(metric: string, batch: readonly UsageSeries[]): void {
      for (const { resource_id } of batch) {
        const spelling = otherSpelling(billed, resource_id);
        if (spelling === undefined) continue;
        const ofMetric = found.get(metric) ?? new Map<string, string>();
        found.set(metric, ofMetric.set(resource_id, spelling));
      }
    },
    /** Returns a sentence for each metric. */
    notes(): string[] {
      return [...found].map(([metric, spellings]) => {
        const [[measured, spelling] = ["", ""]] = [...spellings].sort();
        const count = spellings.size === 1 ? "1 resource is" : `${spellings.size} resources are`;
        return `metric ${metric}: ${count} billed in another case alone, such as ${JSON.stringify(measured)} as ${JSON.stringify(spelling)}: did you mean \`ignore_case: true\`?`;
      });
    },
  };
}

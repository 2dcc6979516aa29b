/**
 * Metrics of usage that have no sample at all. What they should have divided is divided evenly, or charged to nobody, and a mistake
 * in the name of a metric looks just so: it is told.
 */

import { UpstreamError } from "../../upstream-http/upstream-error.js";
import type { DayWindow, UsageGap } from "../ecosystem.js";
import type { PrometheusSource } from "../prometheus/source.js";
import { firstSample } from "./first-sample.js";
import type { UsageMetric } from "./usage.js";

export interface SilentMetrics {
  /** A sentence for each metric without a sample, the first time that it is missed. `heard`: metrics with usage in the window. */
  missed(gathered: Gathered, signal: AbortSignal): Promise<string[]>;
}

interface Gathered {
  readonly window: DayWindow;
  readonly heard: { has(metric: string): boolean };
  readonly gaps: readonly UsageGap[];
}

/** Asks the upstream once about each metric that is missed, for all windows of a run. */
export function createSilentMetrics(
  source: PrometheusSource,
  metrics: readonly UsageMetric[],
  stepSeconds: number,
): SilentMetrics {
  const asked = new Set<string>();
  async function judge({ metric, expression }: UsageMetric, { end }: DayWindow, signal: AbortSignal) {
    asked.add(metric);
    try {
      if ((await firstSample(source, { expression, stepSeconds, end }, signal)) !== undefined) return [];
      return [
        `the query of usage ${metric} has no sample at all, so nothing is divided by it: ${expression}`,
      ];
    } catch (error) {
      if (!(error instanceof UpstreamError) || signal.aborted) throw error;
      return []; // a failure is told as a gap
    }
  }
  return {
    async missed({ window, heard, gaps }, signal) {
      const failed = new Set(gaps.map(({ metric }) => metric));
      const silent = metrics.filter(
        ({ metric }) => !heard.has(metric) && !failed.has(metric) && !asked.has(metric),
      );
      return (await Promise.all(silent.map((metric) => judge(metric, window, signal)))).flat();
    },
  };
}

/**
 * Reports usage metrics that have no sample at all. Their costs are divided evenly or go to UNALLOCATED, which is also
 * the effect of a mistyped metric name.
 */
import type { DayRange } from "../../common/days.js";
import { UpstreamError } from "../../upstream/http/upstream-error.js";
import type { UsageGap } from "../ecosystem.js";
import type { PrometheusSource } from "../prometheus/source.js";
import { firstSample } from "./first-sample.js";
import type { UsageMetric } from "./usage.js";

export interface SilentMetrics {
  /**
   * Returns a sentence for each metric without a sample, the first time that it is missing. `heard`: metrics with usage
   * in the window.
   */
  missingMetrics(gathered: Gathered, signal: AbortSignal): Promise<string[]>;
}

interface Gathered {
  readonly window: DayRange;
  readonly measured: { has(metric: string): boolean };
  readonly gaps: readonly UsageGap[];
}

/** Queries the upstream once for each missing metric, for all windows of a run. */
export function createSilentMetrics(
  source: PrometheusSource,
  metrics: readonly UsageMetric[],
  stepSeconds: number,
): SilentMetrics {
  const checkedMetrics = new Set<string>();
  async function check({ metric, expression }: UsageMetric, { end }: DayRange, signal: AbortSignal) {
    checkedMetrics.add(metric);
    try {
      if ((await firstSample(source, { expression, stepSeconds, end }, signal)) !== undefined) return [];
      return [
        `the query of usage ${metric} has no sample at all, so nothing is divided by it: ${expression}`,
      ];
    } catch (error) {
      if (!(error instanceof UpstreamError) || signal.aborted) throw error;
      return []; // a failure is reported as a gap
    }
  }
  return {
    async missingMetrics({ window, measured, gaps }, signal) {
      const failed = new Set(gaps.map(({ metric }) => metric));
      const silent = metrics.filter(
        ({ metric }) => !measured.has(metric) && !failed.has(metric) && !checkedMetrics.has(metric),
      );
      return (await Promise.all(silent.map((metric) => check(metric, window, signal)))).flat();
    },
  };
}

/**
 * Reports queries that add up series which exist once for each replica of the Prometheus, so that their costs and usage
 * are counted several times. The run goes on, because such a label may mean something else.
 */
import type { UsageSeries } from "../ecosystem.js";
import { replicaSentences } from "../prometheus/replicas.js";
import type { PrometheusSource } from "../prometheus/source.js";
import type { UsageMetric } from "./usage.js";

export interface ReplicaNotes {
  /** Returns sentences about the queries, each of which is checked once in a run. */
  of(queries: readonly SampledQuery[], signal: AbortSignal): Promise<string[]>;
}

export interface SampledQuery {
  /** The name that `check-config --connect` uses: `cost PG_STORAGE`, `usage bytes_in`. */
  readonly name: string;
  readonly expression: string;
  /** The label with the identity, if the query has one. */
  readonly label?: string;
  /**
   * Start of a step with samples, in seconds since 1970. Undefined if none has samples; then nothing is checked yet.
   */
  readonly step: number | undefined;
}

export function createReplicaNotes(source: PrometheusSource, stepSeconds: number): ReplicaNotes {
  const checkedQueries = new Set<string>();
  const check = async ({ name, expression, label, step }: SampledQuery, signal: AbortSignal) => {
    if (step === undefined || checkedQueries.has(name)) return [];
    checkedQueries.add(name);
    const meant = label === undefined ? [] : [label];
    const query = { expression, stepSeconds, at: step + stepSeconds, meant };
    const found = await replicaSentences(source, query, signal);
    return found.map((sentence) => `the query of ${name}: ${sentence}`);
  };
  return {
    of: async (queries, signal) => (await Promise.all(queries.map((query) => check(query, signal)))).flat(),
  };
}

/** Metric → start of its last step with usage, in seconds since 1970. */
export type LastSteps = Map<string, number>;

export function addLastSteps(lastSteps: LastSteps, batch: readonly UsageSeries[]): void {
  for (const { metric, starts } of batch)
    lastSteps.set(metric, Math.max(lastSteps.get(metric) ?? 0, starts.at(-1) ?? 0));
}

/** Returns the usage queries whose series are added up. */
export function sampledUsage(
  usage: readonly UsageMetric[],
  lastSteps: ReadonlyMap<string, number>,
): SampledQuery[] {
  return usage.flatMap(({ metric, measure, expression, label }) =>
    measure === "seen" ? [] : [{ name: `usage ${metric}`, expression, label, step: lastSteps.get(metric) }],
  );
}

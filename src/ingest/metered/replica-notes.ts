/**
 * Reports queries that add up series which exist once for each replica of the Prometheus, so that their costs and usage
 * are counted several times. The run goes on, because such a label may mean something else.
 */
import { UpstreamError } from "../../upstream-http/upstream-error.js";
import { replicated } from "../prometheus/replicas.js";
import type { PrometheusSource } from "../prometheus/source.js";

export interface ReplicaNotes {
  /** Returns sentences about one query, which is checked once in a run. A failed check returns none. */
  of(query: SampledQuery, signal: AbortSignal): Promise<string[]>;
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
  return {
    async of({ name, expression, label, step }, signal) {
      if (step === undefined || checkedQueries.has(name)) return [];
      checkedQueries.add(name);
      const query = {
        expression,
        stepSeconds,
        at: step + stepSeconds,
        meant: label === undefined ? [] : [label],
      };
      try {
        const found = await replicated(source, query, signal);
        return found.map((sentence) => `the query of ${name}: ${sentence}`);
      } catch (error) {
        if (!(error instanceof UpstreamError) || signal.aborted) throw error;
        return [];
      }
    },
  };
}

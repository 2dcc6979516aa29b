/**
 * Says of queries whether they add up series that are there once for each replica of the Prometheus: their costs and their usage are then
 * counted as often. A run carries on, because such a label may mean something else.
 */
import { UpstreamError } from "../../upstream-http/upstream-error.js";
import { replicated } from "../prometheus/replicas.js";
import type { PrometheusSource } from "../prometheus/source.js";

export interface ReplicaNotes {
  /** Sentences about one query, which is looked at once in a run. A look that fails says nothing. */
  of(query: HeardQuery, signal: AbortSignal): Promise<string[]>;
}

export interface HeardQuery {
  /** As `check-config --connect` calls it: `cost PG_STORAGE`, `usage bytes_in`. */
  readonly name: string;
  readonly expression: string;
  /** The label that holds the identity, if it has one. */
  readonly label?: string;
  /** Start of a step that has samples, in seconds since 1970. Undefined if none has: then nothing is looked at yet. */
  readonly step: number | undefined;
}

export function createReplicaNotes(source: PrometheusSource, stepSeconds: number): ReplicaNotes {
  const seen = new Set<string>();
  return {
    async of({ name, expression, label, step }, signal) {
      if (step === undefined || seen.has(name)) return [];
      seen.add(name);
      const query = {
        ...{ expression, stepSeconds, at: step + stepSeconds },
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

/**
 * What of an inventory was gathered completely. A source that fails takes its own types out of the complete ones, so that
 * nothing of them is taken for deleted, and leaves the other sources alone.
 */

import { UpstreamError } from "../../../../upstream-http/upstream-error.js";
import type { InventoryReport } from "../../../reports.js";

/** The sources of an organisation's inventory, each with the types that only it can prove. */
export const sources = {
  environments: { resources: ["environment"], identities: [] },
  clusters: { resources: ["kafka_cluster"], identities: [] },
  "schema registries": { resources: ["schema_registry"], identities: [] },
  "ksqlDB clusters": { resources: ["ksqldb_cluster"], identities: [] },
  connectors: { resources: ["connector"], identities: [] },
  "compute pools": { resources: ["flink_compute_pool"], identities: [] },
  statements: { resources: ["flink_statement"], identities: [] },
  "service accounts": { resources: [], identities: ["service_account"] },
  users: { resources: [], identities: ["user"] },
  "API keys": { resources: [], identities: ["api_key"] },
  "identity providers": { resources: [], identities: ["identity_provider"] },
  "identity pools": { resources: [], identities: ["identity_pool"] },
} as const;

export type Source = keyof typeof sources;

export interface Tally {
  /**
   * One request of a source, or several that belong together. Returns undefined when the upstream failed it; throws what is
   * not the upstream's doing.
   */
  attempt<T>(source: Source, work: () => Promise<T>): Promise<T | undefined>;
  /** Something of the source cannot be known. */
  fail(source: Source, reason: string): void;
  /** The source is not asked at all, which proves nothing and is no error. */
  leaveOut(source: Source): void;
  report(): InventoryReport;
}

export function createTally(signal: AbortSignal): Tally {
  const failures = new Map<Source, { count: number; first: string }>();
  const leftOut = new Set<Source>();
  const fail = (source: Source, reason: string) => {
    const known = failures.get(source);
    failures.set(source, { count: (known?.count ?? 0) + 1, first: known?.first ?? reason });
  };
  return {
    fail,
    async attempt(source, work) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof UpstreamError) || signal.aborted) throw error;
        fail(source, error.message);
        return undefined;
      }
    },
    leaveOut: (source) => void leftOut.add(source),
    report() {
      const names = Object.keys(sources).filter((name): name is Source => Object.hasOwn(sources, name));
      const complete = names.filter((name) => !failures.has(name) && !leftOut.has(name));
      return {
        completeResourceTypes: complete.flatMap((name) => sources[name].resources),
        completeIdentityTypes: complete.flatMap((name) => sources[name].identities),
        errors: [...failures].map(([name, { count, first }]) =>
          count === 1 ? `${name}: ${first}` : `${name}: ${count} failures, the first: ${first}`,
        ),
      };
    },
  };
}

/**
 * Records which sources of an inventory were gathered completely. A failed source makes only its own types incomplete,
 * so that none of their entities is marked as deleted.
 */
import { UpstreamError } from "../../../../upstream/http/upstream-error.js";
import type { InventoryReport } from "../../../reports.js";

/** The sources of an organisation's inventory, each with the types that only it can list. */
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

export type InventorySource = keyof typeof sources;

export interface Tally {
  /**
   * Runs one request of a source, or several that belong together. Returns undefined if the upstream failed; throws
   * other errors.
   */
  attempt<T>(source: InventorySource, work: () => Promise<T>): Promise<T | undefined>;
  /** Something of the source could not be gathered. */
  fail(source: InventorySource, reason: string): void;
  /** The source is not requested at all. Its types are incomplete, but that is not an error. */
  leaveOut(source: InventorySource): void;
  report(): InventoryReport;
}

export function createTally(signal: AbortSignal): Tally {
  const failures = new Map<InventorySource, { count: number; first: string }>();
  const leftOut = new Set<InventorySource>();
  const fail = (source: InventorySource, reason: string) => {
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
      const names = Object.keys(sources).filter((name): name is InventorySource =>
        Object.hasOwn(sources, name),
      );
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

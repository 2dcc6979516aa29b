import { type DayRange, daysOfWindow } from "../../src/common/days.js";
import type { AllocationRule } from "../../src/domain/allocation-rule.js";
import type { AnyEcosystem, BillingLine } from "../../src/ingest/ecosystem.js";
import { genericMetricsOnly } from "../../src/ingest/ecosystems/generic_metrics_only/index.js";

/** Data of a test's upstream. It may be changed between runs, and while one waits in `onWindow`. */
export interface Upstream {
  /** Cost of a day's lines, by day and resource. */
  readonly bill: Map<string, Record<string, string>>;
  /** Identities that are active on every resource, with their usage of the metric. */
  members: Record<string, number>;
  /** Number of further users of the metric, each with its number as usage: for days with a lot of work. */
  crowd: number;
  /** Days whose usage metric cannot be fetched. */
  readonly gaps: Set<string>;
  /** The missing data of these days: the metric, or a product that is priced by samples. */
  lacking: string;
  /** True if the metric is queried. */
  measured: boolean;
  /** Only these resources have usage; by default all. */
  measuredResources: readonly string[] | undefined;
  /** Days of `gaps` for which some usage arrives before the fetch fails. */
  readonly partly: Set<string>;
  /** Days whose bill fails. */
  readonly incomplete: Set<string>;
  rules: readonly AllocationRule[];
  /** True if the metric defines who was active on a resource. */
  readonly derives: boolean;
  /** Resources of the bill that have a second line, SHARED, of 1. */
  readonly shared: string[];
  /** Errors of sources that failed although the gather continued. */
  sourceErrors: readonly string[];
  /** Called before each response for a window. It may throw, or wait for its signal. */
  onWindow: (window: DayRange, signal: AbortSignal) => Promise<void>;
  /** Errors of inventory lists that failed. */
  inventoryErrors: readonly string[];
  onConnect: () => void;
  /** Number of windows that were requested. */
  windows: number;
}

export const evenRule: AllocationRule = {
  product_type: "SHARED",
  components: [
    {
      ratio: "1",
      tiers: [
        { kind: "even", scopes: ["resource_active"], of: "resource", detail: "even_split_allocation" },
        { kind: "terminal", detail: "no_identities_located" },
      ],
    },
  ],
};

export const usageRule: AllocationRule = {
  product_type: "METERED",
  components: [
    {
      ratio: "1",
      tiers: [
        { kind: "usage", metrics: ["work"], detail: "usage_ratio_allocation" },
        { kind: "terminal", detail: "no_metrics_located" },
      ],
    },
  ],
};

/** Returns an ecosystem for tests and its data. Resources named `metered…` are billed by usage, all others evenly. */
export function scriptedUpstream(changes: Partial<Upstream> = {}): {
  upstream: Upstream;
  ecosystems: ReadonlyMap<string, AnyEcosystem>;
} {
  const upstream: Upstream = {
    bill: new Map(),
    members: { ann: 1, bob: 3 },
    crowd: 0,
    gaps: new Set(),
    lacking: "work",
    measured: true,
    measuredResources: undefined,
    partly: new Set(),
    incomplete: new Set(),
    rules: [evenRule, usageRule],
    derives: false,
    shared: [],
    sourceErrors: [],
    onWindow: async () => undefined,
    inventoryErrors: [],
    onConnect: () => undefined,
    windows: 0,
    ...changes,
  };
  const ecosystem: AnyEcosystem = {
    ...genericMetricsOnly,
    rules: () => upstream.rules,
    derivingMetrics: () => (upstream.derives ? ["work"] : []),
    connect() {
      upstream.onConnect();
      return {
        daysPerWindow: 31,
        close: async () => undefined,
        async gatherInventory(sink) {
          await sink.identities(
            Object.keys(upstream.members).map((identity_id) => ({
              identity_id,
              identity_type: "principal",
              display_name: null,
              created_at: null,
              metadata: {},
            })),
          );
          const errors = upstream.inventoryErrors;
          const completeIdentityTypes = errors.length === 0 ? ["principal"] : [];
          return { completeResourceTypes: [], completeIdentityTypes, errors };
        },
        async gatherWindow(window, sink, signal) {
          await upstream.onWindow(window, signal);
          signal.throwIfAborted();
          const days = daysOfWindow(window);
          for (const day of days) {
            const bill = Object.entries(upstream.bill.get(day) ?? {});
            await sink.billing(bill.flatMap(([resource, costs]) => linesOf(day, resource, costs)));
            const second = upstream.shared.filter((id) => bill.some(([resource]) => resource === id));
            await sink.billing(second.map((id) => ({ ...lineOf(day, id, "1"), product_type: "SHARED" })));
            const people = Object.entries(upstream.members);
            for (const [resource_id] of bill) {
              await sink.identitySets(
                people.map(([identity_id]) => ({ day, scope: "resource_active", resource_id, identity_id })),
              );
              if (!resource_id.startsWith("metered") || !upstream.measured) continue;
              if (upstream.measuredResources?.includes(resource_id) === false) continue;
              if (upstream.gaps.has(day) && !upstream.partly.has(day)) continue;
              const crowd = Array.from({ length: upstream.crowd }, (_, i) => [`user-${i}`, i + 1] as const);
              await sink.usage(
                [...people, ...crowd].map(([identity_id, used]) => ({
                  timestamp: `${day}T00:00:00Z`,
                  metric: "work",
                  resource_id,
                  identity_id,
                  micro_units: String(used * 1_000_000),
                })),
              );
            }
          }
          for (const day of days.filter((each) => upstream.gaps.has(each))) {
            const metered = Object.keys(upstream.bill.get(day) ?? {}).filter((id) =>
              id.startsWith("metered"),
            );
            const reason = "the test says so";
            await sink.usageGaps(
              metered.map((resource_id) => ({ day, metric: upstream.lacking, resource_id, reason })),
            );
          }
          upstream.windows += 1;
          const completeDays = days.filter((day) => !upstream.incomplete.has(day));
          return { completeDays, dropped: {}, errors: upstream.sourceErrors };
        },
      };
    },
  };
  return { upstream, ecosystems: new Map([["generic_metrics_only", ecosystem]]) };
}

/** Parses `10 + 7 EUR` into two lines of one key. */
function linesOf(day: string, resource: string, costs: string): BillingLine[] {
  return costs.split(" + ").map((each) => {
    const [cost = "", currency] = each.split(" ");
    return { ...lineOf(day, resource, cost), ...(currency !== undefined && { currency }) };
  });
}

function lineOf(day: string, resource: string, cost: string): BillingLine {
  return {
    timestamp: `${day}T00:00:00Z`,
    env_id: "",
    resource_id: resource,
    product_category: "test",
    product_type: resource.startsWith("metered") ? "METERED" : "SHARED",
    quantity: "1",
    unit_price: cost,
    total_cost: cost,
    currency: "USD",
    granularity: "daily",
    metadata: {},
  };
}

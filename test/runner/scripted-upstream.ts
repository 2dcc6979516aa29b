import type { AllocationRule } from "../../src/config/allocation-rule.js";
import type { AnyEcosystem, BillingLine, DayWindow } from "../../src/ingest/ecosystem.js";
import { genericMetricsOnly } from "../../src/ingest/ecosystems/generic_metrics_only/index.js";
import { daysOfWindow } from "../../src/time/days.js";

/** What an upstream of a test says. May be changed between runs, and while one waits in `onWindow`. */
export interface Upstream {
  /** Cost of a day's lines, by day and resource. */
  readonly bill: Map<string, Record<string, string>>;
  /** Who is active on every resource, and how much of the metric each used. */
  members: Record<string, number>;
  /** How many more use the metric, each as much as its number: for days that are much work. */
  crowd: number;
  /** Days whose usage metric cannot be fetched. */
  readonly gaps: Set<string>;
  /** What cannot be fetched on them: the metric, or a product that is priced by samples. */
  lacking: string;
  /** Whether the metric is asked for at all. */
  measured: boolean;
  /** Of these days, those of which some usage comes before the fetch breaks off. */
  readonly partly: Set<string>;
  /** Days whose bill does not come. */
  readonly incomplete: Set<string>;
  rules: readonly AllocationRule[];
  /** The metric says who was active on a resource. */
  readonly derives: boolean;
  /** Resources of the bill that have a second line, SHARED, of 1. */
  readonly shared: string[];
  /** Sentences of sources that failed, though the gather went on. */
  sourceErrors: readonly string[];
  /** Called before each window is answered; may throw, or wait for its signal. */
  onWindow: (window: DayWindow, signal: AbortSignal) => Promise<void>;
  /** Sentences of lists of the inventory that failed. */
  inventoryErrors: readonly string[];
  onConnect: () => void;
  /** Windows that were answered. */
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

/** An ecosystem of the test's own, and what it says. Resources named `metered…` are billed by usage, all others evenly. */
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

/** `10 + 7 EUR`: two lines of one key. */
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

/** Allocation rules of the cost types of a `generic_metrics_only` tenant, and the metrics that show who was active. */
import type { AllocationRule, RuleTier } from "../../../domain/allocation-rule.js";
import { discovers } from "../../metered/identity-source.js";
import type { CostTypeSettings, GenericMetricsOnlySettings } from "./settings.js";

/** Metric of the identities that the discovery query finds: 1 for each step in which an identity was seen. */
export const DISCOVERY = "discovery";

/** Metric whose usage divides a `usage_ratio` cost type. */
export function allocationMetric(costType: CostTypeSettings): string {
  return `alloc_${costType.name}`;
}

export function genericRules(settings: GenericMetricsOnlySettings): AllocationRule[] {
  return settings.cost_types.map((costType) => ({
    product_type: costType.name,
    components: [{ ratio: "1", tiers: tiersOf(costType) }],
  }));
}

const nobody: RuleTier = { kind: "terminal", detail: "no_identities_located" };

function tiersOf(costType: CostTypeSettings): RuleTier[] {
  if (costType.allocation_strategy === "even_split") return [everybody("even_split_allocation"), nobody];
  return [
    { kind: "usage", metrics: [allocationMetric(costType)], detail: "usage_ratio_allocation" },
    everybody("no_metrics_located"),
    nobody,
  ];
}

function everybody(detail: "even_split_allocation" | "no_metrics_located"): RuleTier {
  return { kind: "even", scopes: ["resource_active", "metrics_derived"], of: "resource", detail };
}

/**
 * An allocation query names identities only if its label is the one that identities are discovered by. With only static
 * identities, none are derived, because the configuration states who may be charged.
 */
export function genericDerivingMetrics({
  identity_source: source,
  cost_types,
}: GenericMetricsOnlySettings): string[] {
  if (!discovers(source)) return [];
  const naming = cost_types.filter((costType) => costType.allocation_label === source.label);
  return [DISCOVERY, ...naming.map(allocationMetric)];
}

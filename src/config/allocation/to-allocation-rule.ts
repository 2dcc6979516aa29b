/** Converts configured rules to rules of the allocation statement. */
import type { AllocationDetail, AllocationRule, RuleTier } from "../../domain/allocation-rule.js";
import type { ConfiguredRule } from "./configured-rule.js";
import { costMetric, costPlace, fixedMetric, listScope, partName } from "./derived-facts.js";
import type { ConfiguredTier } from "./tier.js";

/** Returns undefined for a rule that leaves its lines to the ecosystem. */
export function toAllocationRule(configured: ConfiguredRule): AllocationRule | undefined {
  const components = componentsOf(configured);
  if (components.length === 0) return undefined;
  return {
    product_type: "",
    rule: configured.name,
    components: components.map(({ ratio, split }, index) => ({
      ratio,
      tiers: tiersOf(split, partName(configured.name, index, components.length)),
    })),
  };
}

/** Returns the components of a rule. A rule without components has one, its `split`. */
export function componentsOf({ split, components = [] }: ConfiguredRule) {
  return split === undefined ? components : [{ ratio: "1", split }];
}

function tiersOf(split: readonly ConfiguredTier[], part: string): RuleTier[] {
  const tiers = split.flatMap((tier, index) =>
    tier.by === "nobody" ? [] : [tierOf(tier, part, split.slice(0, index))],
  );
  return [...tiers, { kind: "terminal", detail: nobodyDetail(split) }];
}

/** If a rule only has the tier `nobody`, UNALLOCATED is intended. Otherwise it is an allocation issue. */
function nobodyDetail(split: readonly ConfiguredTier[]): AllocationDetail {
  if (split.every(({ by }) => by === "nobody")) return "unattributable_by_design";
  return split.some(({ by }) => by === "line") ? "no_identity_on_line" : "no_identities_located";
}

function tierOf(
  tier: Exclude<ConfiguredTier, { readonly by: "nobody" }>,
  part: string,
  before: readonly ConfiguredTier[],
): RuleTier {
  switch (tier.by) {
    case "line":
      return { kind: "line", detail: "line_identity_allocation" };
    case "owner":
      return { kind: "owner", detail: "direct_owner_allocation" };
    case "usage":
      return {
        kind: "usage",
        metrics: tier.metrics ?? (tier.metric === undefined ? [] : [tier.metric]),
        detail: "usage_ratio_allocation",
      };
    case "cost": {
      const weights = { within: tier.within, over: tier.over };
      const place = { metric: costMetric(weights), of: costPlace(weights) };
      return { kind: "cost", ...place, detail: "cost_ratio_allocation" };
    }
    case "fixed":
      return { kind: "fixed", metric: fixedMetric(part), detail: "fixed_ratio_allocation" };
    case "even": {
      // As in the ecosystems' rules: a rule by usage reports that there was no usage.
      const measured = before.some(({ by }) => by === "usage");
      const detail = measured ? "no_metrics_located" : "even_split_allocation";
      if (typeof tier.among !== "string")
        return { kind: "even", scopes: [listScope(part)], of: "tenant", detail };
      const of = tier.among === "tenant_period" ? "tenant" : "resource";
      return { kind: "even", scopes: [tier.among], of, detail };
    }
  }
}

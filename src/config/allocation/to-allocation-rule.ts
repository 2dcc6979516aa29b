/** Converts configured rules to rules of the allocation statement. */
import {
  type AllocationDetail,
  type AllocationRule,
  FIRST_STAGE,
  type RuleTier,
} from "../../domain/allocation-rule.js";
import { ruleOfStep } from "../../domain/passed-cost.js";
import { type ConfiguredRule, componentsOf, stageOf } from "./configured-rule.js";
import {
  type CostWeights,
  costMetric,
  costPlace,
  fixedMetric,
  listScope,
  partName,
} from "./derived-facts.js";
import type { ConfiguredStep } from "./pass-on.js";
import type { ConfiguredTier, CostTier } from "./tier.js";

/** Returns undefined for a rule that leaves its lines to the ecosystem. */
export function toAllocationRule(configured: ConfiguredRule): AllocationRule | undefined {
  const components = componentsOf(configured);
  if (components.length === 0) return undefined;
  const stage = stageOf(configured);
  return {
    product_type: "",
    rule: configured.name,
    ...(stage !== FIRST_STAGE && { stage }),
    components: components.map(({ ratio, split }, index) => ({
      ratio,
      tiers: tiersOf(split, { name: partName(configured.name, index, components.length), stage }),
    })),
  };
}

/** Returns the rule of a step of `pass_on`. Its lines are the rows that the step takes. */
export function toPassingRule({ name, split }: ConfiguredStep, stage: number): AllocationRule {
  const rule = ruleOfStep(name);
  return {
    product_type: "",
    rule,
    stage,
    components: [{ ratio: "1", tiers: tiersOf(split, { name: rule, stage }) }],
  };
}

/** Returns the weights of a tier of a rule of this stage. */
export function costWeights({ of, within, over, exclude = [] }: CostTier, stage: number): CostWeights {
  return {
    within,
    over,
    stage: of === "allocated" ? stage : undefined,
    exclude: [...new Set(exclude)].sort(),
  };
}

/** The component of a rule that tiers belong to. */
interface Part {
  readonly name: string;
  readonly stage: number;
}

function tiersOf(split: readonly ConfiguredTier[], part: Part): RuleTier[] {
  const tiers = split.flatMap((tier, index) =>
    tier.by === "nobody" ? [] : [tierOf(tier, part, split.slice(0, index))],
  );
  return [...tiers, { kind: "terminal", detail: nobodyDetail(split) }];
}

/**
 * If a rule only has the tier `nobody`, UNALLOCATED is intended. Otherwise it is an allocation issue, also if none of its
 * shares counts on the day.
 */
function nobodyDetail(split: readonly ConfiguredTier[]): AllocationDetail {
  if (split.length > 0 && split.every(({ by }) => by === "nobody")) return "unattributable_by_design";
  return split.some(({ by }) => by === "line") ? "no_identity_on_line" : "no_identities_located";
}

function tierOf(
  tier: Exclude<ConfiguredTier, { readonly by: "nobody" }>,
  part: Part,
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
      const weights = costWeights(tier, part.stage);
      const place = { metric: costMetric(weights), of: costPlace(weights) };
      return { kind: "cost", ...place, detail: "cost_ratio_allocation" };
    }
    case "fixed":
      return { kind: "fixed", metric: fixedMetric(part.name), detail: "fixed_ratio_allocation" };
    case "even": {
      // As in the ecosystems' rules: a rule by usage reports that there was no usage.
      const measured = before.some(({ by }) => by === "usage");
      const detail = measured ? "no_metrics_located" : "even_split_allocation";
      if (typeof tier.among !== "string")
        return { kind: "even", scopes: [listScope(part.name)], of: "tenant", detail };
      const of = tier.among === "tenant_period" ? "tenant" : "resource";
      return { kind: "even", scopes: [tier.among], of, detail };
    }
  }
}

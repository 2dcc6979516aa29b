/** How the benchmarks' product types are allocated: by usage where there is a metric, else evenly, as an ecosystem would declare it. */
import { buildRuleSet, type RuleSet } from "../src/allocate/rules.js";
import type { RuleTier } from "../src/config/allocation-rule.js";
import { organisation } from "./organisation.js";

export function benchRules(): RuleSet {
  const { productTypes, firstEvenProductType, metrics } = organisation;
  const evenly: RuleTier = {
    kind: "even",
    scopes: ["resource_active"],
    of: "resource",
    detail: "no_metrics_located",
  };
  const nobody: RuleTier = { kind: "terminal", detail: "no_identities_located" };
  return buildRuleSet(
    Array.from({ length: productTypes }, (_, product) => {
      const byUsage: RuleTier = {
        kind: "usage",
        metrics: [`metric_${product % metrics}`],
        detail: "usage_ratio_allocation",
      };
      const tiers = product < firstEvenProductType ? [byUsage, evenly, nobody] : [evenly, nobody];
      return {
        product_type: `PRODUCT_${String(product).padStart(2, "0")}`,
        components: [{ ratio: "1", tiers }],
      };
    }),
  );
}

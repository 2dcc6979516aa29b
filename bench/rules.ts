/** Rules of the benchmarks' product types, as ecosystems declare them. */
import { buildRuleSet, type ConfiguredRules, type RuleSet } from "../src/allocate/rules.js";
import type { RuleComponent, RuleTier } from "../src/domain/allocation-rule.js";
import { organisation } from "./organisation.js";

const evenly: RuleTier = {
  kind: "even",
  scopes: ["resource_active"],
  of: "resource",
  detail: "no_metrics_located",
};
const nobody: RuleTier = { kind: "terminal", detail: "no_identities_located" };
const measured = (...metrics: readonly number[]): RuleTier => ({
  kind: "usage",
  metrics: metrics.map((metric) => `metric_${metric % organisation.metrics}`),
  detail: "usage_ratio_allocation",
});
const whole = (...tiers: readonly RuleTier[]): RuleComponent[] => [{ ratio: "1", tiers }];

/** The simplest rules: one metric and one component, or evenly if there is no metric. */
export const plainRules = rules((product) =>
  product < organisation.firstEvenProductType
    ? whole(measured(product), evenly, nobody)
    : whole(evenly, nobody),
);

/**
 * Rules as for real bills, each for a fifth of the product types: one metric, two metrics together, a part by usage and
 * the rest evenly, the owner, evenly.
 */
export const mixedRules = rules((product) => {
  const kinds: readonly (() => RuleComponent[])[] = [
    () => whole(measured(product), evenly, nobody),
    () => whole(measured(product, product + 1), evenly, nobody),
    () => [
      { ratio: "0.7", tiers: [measured(product), evenly, nobody] },
      { ratio: "0.3", tiers: [{ ...evenly, detail: "shared_by_design" }, nobody] },
    ],
    () =>
      whole(
        { kind: "owner", detail: "direct_owner_allocation" },
        { kind: "terminal", detail: "owner_unknown" },
      ),
    () => whole({ ...evenly, detail: "shared_by_design" }, nobody),
  ];
  return (kinds[product % kinds.length] ?? (() => whole(nobody)))();
});

/** The configured rule of the second stage. */
export const FEE = "fee";
const feeWeights = { metric: "allocated/2@resource_id", of: "currency@resource_id" } as const;

/** The simplest rules, and a rule that splits its lines by what the others allocated on the resource. */
export const stagedRules = rules(
  (product) =>
    product < organisation.firstEvenProductType
      ? whole(measured(product), evenly, nobody)
      : whole(evenly, nobody),
  {
    rules: [
      {
        product_type: "",
        rule: FEE,
        stage: 2,
        components: whole({ kind: "cost", ...feeWeights, detail: "cost_ratio_allocation" }, nobody),
      },
    ],
    columns: new Map([[feeWeights.of, { sql: "resource_id", isInRows: true }]]),
    steps: [],
    weights: [
      {
        stage: 2,
        metric: feeWeights.metric,
        rules: [FEE],
        within: { sql: "resource_id", isInRows: true },
        over: "day",
        exclude: [],
      },
    ],
    digest: FEE,
  },
);

function rules(componentsOf: (product: number) => RuleComponent[], configured?: ConfiguredRules): RuleSet {
  const products = Array.from({ length: organisation.productTypes }, (_, product) => ({
    product_type: `PRODUCT_${String(product).padStart(2, "0")}`,
    components: componentsOf(product),
  }));
  return buildRuleSet(products, configured);
}

/** Rules of the benchmarks' product types, as ecosystems declare them. */
import { buildRuleSet, type ConfiguredRules, type RuleSet } from "../src/allocate/rules.js";
import { planAllocation } from "../src/config/allocation/plan.js";
import type { AllocationRule, RuleComponent, RuleTier } from "../src/domain/allocation-rule.js";
import { ruleColumns } from "../src/domain/rule-columns.js";
import { tenantRuleSet } from "../src/runner/tenant-rules.js";
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

const plain = (product: number) =>
  product < organisation.firstEvenProductType
    ? whole(measured(product), evenly, nobody)
    : whole(evenly, nobody);

/** The simplest rules: one metric and one component, or evenly if there is no metric. */
export const plainRules = rules(plain);

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
export const stagedRules = rules(plain, {
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
});

/** The simplest rules, and a step that passes on what one identity got, by what all others got. */
export function passingRules(from: string): RuleSet {
  const plan = planAllocation(
    {
      allocation: {
        decimal_places: 4,
        identity: [],
        rules: [],
        pass_on: [{ name: "passing", from: [from], split: [{ by: "cost", of: "allocated", over: "day" }] }],
      },
      identity_maps: new Map(),
      line_columns: ruleColumns(),
    },
    products(plain),
  );
  return tenantRuleSet(products(plain), plan);
}

function rules(componentsOf: (product: number) => RuleComponent[], configured?: ConfiguredRules): RuleSet {
  return buildRuleSet(products(componentsOf), configured);
}

function products(componentsOf: (product: number) => RuleComponent[]): AllocationRule[] {
  return Array.from({ length: organisation.productTypes }, (_, product) => ({
    product_type: `PRODUCT_${String(product).padStart(2, "0")}`,
    components: componentsOf(product),
  }));
}

/**
 * The allocation plan of a tenant: the rules as the allocation statement takes them, the facts that have to be staged
 * for them, and a digest of everything that decides who pays. The SQL is built from it.
 */
import { digestOf } from "../../common/digest.js";
import type { AllocationRule, SetOf } from "../../domain/allocation-rule.js";
import type { RuleColumns } from "../../domain/rule-columns.js";
import type { TenantConfig } from "../config.js";
import type { IdentityMaps } from "./check-allocation.js";
import { type ConfiguredRule, componentsOf, stageOf } from "./configured-rule.js";
import {
  type CostWeights,
  costMetric,
  costPlace,
  fixedMetric,
  listScope,
  partName,
} from "./derived-facts.js";
import type { IdentitySource } from "./identity-source.js";
import { costWeights, toAllocationRule } from "./to-allocation-rule.js";

export interface AllocationPlan {
  readonly identity: readonly IdentitySource[];
  readonly maps: IdentityMaps;
  readonly columns: RuleColumns;
  /** In order, including rules with `allocation: keep`. */
  readonly configured: readonly ConfiguredRule[];
  /** The rules of `configured` that split their lines. */
  readonly rules: readonly AllocationRule[];
  readonly costs: readonly PlannedCosts[];
  readonly shares: readonly PlannedShares[];
  readonly lists: readonly PlannedList[];
  readonly direct: DirectShares;
  /** Changes whenever anything changes that can affect who pays. */
  readonly digest: string;
}

/**
 * Costs that are weights on days with lines of one of these rules. Direct charges are staged as they are gathered, and
 * allocated costs as each stage is calculated.
 */
export interface PlannedCosts extends CostWeights {
  readonly metric: string;
  readonly place: SetOf;
  readonly rules: readonly string[];
}

export interface PlannedShares {
  readonly metric: string;
  readonly rule: string;
  /** Pairs of an identity and its weight, a plain decimal. */
  readonly shares: readonly (readonly [string, string])[];
}

export interface PlannedList {
  readonly scope: string;
  readonly rule: string;
  readonly identities: readonly string[];
}

/**
 * The part of a line, in millionths, that is charged directly to the identity that it names: the components whose first
 * tier is `line`. Only these costs count as weights, so that a rule that splits by cost never weighs by its own result.
 */
export interface DirectShares {
  readonly byRule: ReadonlyMap<string, number>;
  /** `*` is for product types without a rule of their own. */
  readonly byProduct: ReadonlyMap<string, number>;
}

/** Returns undefined for a tenant without identity sources and rules. `own` are the rules of its ecosystem. */
export function planAllocation(
  {
    allocation,
    identity_maps: maps,
    line_columns: columns,
  }: Pick<TenantConfig, "allocation" | "identity_maps" | "line_columns">,
  own: readonly AllocationRule[],
): AllocationPlan | undefined {
  const { identity, rules: configured } = allocation;
  if (identity.length + configured.length === 0) return undefined;
  const rules = configured.flatMap((rule) => toAllocationRule(rule) ?? []);
  return {
    identity,
    maps,
    columns,
    configured,
    rules,
    costs: plannedCosts(configured),
    shares: partsOf(configured).flatMap(({ rule, part, tier }) =>
      tier.by === "fixed" ? [{ metric: fixedMetric(part), rule, shares: Object.entries(tier.shares) }] : [],
    ),
    lists: partsOf(configured).flatMap(({ rule, part, tier }) =>
      tier.by === "even" && typeof tier.among !== "string"
        ? [{ scope: listScope(part), rule, identities: tier.among }]
        : [],
    ),
    direct: {
      byRule: new Map(rules.map((rule) => [rule.rule ?? "", directMillionths(rule)])),
      byProduct: new Map(own.map((rule) => [rule.product_type, directMillionths(rule)])),
    },
    digest: digestOf([identity, configured, columns, [...maps].map(([path, { hash }]) => [path, hash])]),
  };
}

/** Returns every tier of every rule, with the name of its component. */
function partsOf(configured: readonly ConfiguredRule[]) {
  return configured.flatMap((rule) => {
    const components = componentsOf(rule);
    return components.flatMap(({ split }, index) => {
      const part = partName(rule.name, index, components.length);
      return split.map((tier) => ({ rule: rule.name, stage: stageOf(rule), part, tier }));
    });
  });
}

function plannedCosts(configured: readonly ConfiguredRule[]): PlannedCosts[] {
  const planned = new Map<string, PlannedCosts>();
  for (const { rule, stage, tier } of partsOf(configured)) {
    if (tier.by !== "cost") continue;
    const weights = costWeights(tier, stage);
    const metric = costMetric(weights);
    const rules = new Set([...(planned.get(metric)?.rules ?? []), rule]);
    planned.set(metric, { ...weights, metric, place: costPlace(weights), rules: [...rules] });
  }
  return [...planned.values()];
}

function directMillionths({ components }: AllocationRule): number {
  const direct = components.filter(({ tiers }) => tiers[0]?.kind === "line");
  return direct.reduce((sum, { ratio }) => sum + Math.round(Number(ratio) * 1_000_000), 0);
}

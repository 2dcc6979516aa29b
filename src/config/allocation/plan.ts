/**
 * The allocation plan of a tenant: the rules as the allocation statement takes them, the facts that have to be staged
 * for them, and a digest of everything that decides who pays. The SQL is built from it.
 */
import { digestOf } from "../../common/digest.js";
import { type AllocationRule, type SetOf, withOtherProducts } from "../../domain/allocation-rule.js";
import { assignedRule } from "../../domain/assignment.js";
import { ruleOfStep, stageOfStep } from "../../domain/passed-cost.js";
import type { RuleColumns } from "../../domain/rule-columns.js";
import type { TenantConfig } from "../config.js";
import type { Assigned } from "./assigned.js";
import { type ConfiguredRule, componentsOf, stageOf } from "./configured-rule.js";
import {
  type CostWeights,
  costMetric,
  costPlace,
  fixedMetric,
  listScope,
  partName,
} from "./derived-facts.js";
import type { IdentityMaps } from "./identity-map.js";
import { type IdentitySource, isAssigned } from "./identity-source.js";
import { type NumberedStep, numbered } from "./pass-on.js";
import type { ConfiguredTier } from "./tier.js";
import { costWeights, toAllocationRule, toPassingRule } from "./to-allocation-rule.js";

export interface AllocationPlan {
  readonly identity: readonly IdentitySource[];
  readonly maps: IdentityMaps;
  readonly columns: RuleColumns;
  /** Undefined if the tenant has no assignments, or does not read them. */
  readonly assigned: AssignedLines | undefined;
  /** In order, including rules with `allocation: keep`. */
  readonly configured: readonly ConfiguredRule[];
  /** The rules of `configured` that split their lines, and those of `steps`. */
  readonly rules: readonly AllocationRule[];
  /** Steps that pass costs on, in order. */
  readonly steps: readonly NumberedStep[];
  readonly costs: readonly PlannedCosts[];
  readonly shares: readonly PlannedShares[];
  readonly lists: readonly PlannedList[];
  readonly direct: DirectShares;
  /**
   * Changes whenever anything changes that can affect who pays, except what the lines show: the rule that takes them and
   * the identity that they name. So a changed condition or row of a map only affects the days with lines that it changes.
   */
  readonly digest: string;
  /** Changes whenever anything changes that decides what lines show, except maps and assignments. */
  readonly linesDigest: string;
}

export interface AssignedLines extends Assigned {
  /** Product types of the ecosystem's rules; with a rule for assigned lines, and without, where the own rule fits. */
  readonly ruled: readonly string[];
  readonly unruled: readonly string[];
}

/**
 * Costs that are weights on days with lines of one of these rules. Direct charges are staged as they are gathered, and
 * allocated costs as each stage is calculated.
 */
export interface PlannedCosts extends CostWeights {
  readonly metric: string;
  readonly place: SetOf;
  /** Undefined for a step of `pass_on`, which needs them on every day. */
  readonly rules: readonly string[] | undefined;
}

export interface PlannedShares {
  readonly metric: string;
  readonly rules: PlannedCosts["rules"];
  /** Pairs of an identity and its weight, a plain decimal. */
  readonly shares: readonly (readonly [string, string])[];
}

export interface PlannedList {
  readonly scope: string;
  readonly rules: PlannedCosts["rules"];
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

/**
 * Returns undefined if a tenant has neither rules nor identity sources that can find anything. `own` are the rules of
 * its ecosystem.
 */
export function planAllocation(
  {
    allocation,
    identity_maps: maps,
    line_columns: columns,
  }: Pick<TenantConfig, "allocation" | "identity_maps" | "line_columns">,
  own: readonly AllocationRule[],
  assigned?: Assigned,
): AllocationPlan | undefined {
  const { rules: configured } = allocation;
  const steps = numbered(allocation.pass_on);
  const written = allocation.identity.filter((source) => !isAssigned(source));
  const identity = assigned === undefined ? written : allocation.identity;
  if (identity.length + configured.length + steps.length === 0) return undefined;
  const rules = configured.flatMap((rule) => toAllocationRule(rule) ?? []);
  const passing = steps.map((each) => toPassingRule(each, stageOfStep(each.step)));
  const assignedRules: ReturnType<typeof assignedRulesOf> =
    assigned === undefined ? new Map() : assignedRulesOf(own);
  const ofAssigned = [...assignedRules.values()].filter((rule) => rule !== undefined);
  const parts = [...partsOf(configured), ...partsOfSteps(steps)];
  return {
    identity,
    maps,
    columns,
    assigned: assigned && {
      ...assigned,
      ruled: [...assignedRules].flatMap(([type, rule]) => (rule === undefined ? [] : [type])),
      unruled: [...assignedRules].flatMap(([type, rule]) => (rule === undefined ? [type] : [])),
    },
    configured,
    rules: [...rules, ...passing, ...ofAssigned],
    steps,
    costs: plannedCosts(parts),
    shares: parts.flatMap(({ rules, part, tier }) =>
      tier.by === "fixed" ? [{ metric: fixedMetric(part), rules, shares: Object.entries(tier.shares) }] : [],
    ),
    lists: parts.flatMap(({ rules, part, tier }) =>
      tier.by === "even" && typeof tier.among !== "string"
        ? [{ scope: listScope(part), rules, identities: tier.among }]
        : [],
    ),
    direct: {
      byRule: new Map([...rules, ...ofAssigned].map((rule) => [rule.rule ?? "", directMillionths(rule)])),
      byProduct: new Map(own.map((rule) => [rule.product_type, directMillionths(rule)])),
    },
    digest: digestOf([
      configured.map(({ where: _, ...rule }) => rule),
      columns,
      ...(steps.length === 0 ? [] : [steps]),
    ]),
    linesDigest: digestOf([written, configured.map(({ name, where }) => [name, where]), columns]),
  };
}

/** Returns the rules for assigned lines, by product type. */
function assignedRulesOf(own: readonly AllocationRule[]): Map<string, AllocationRule | undefined> {
  return new Map(withOtherProducts(own).map((rule) => [rule.product_type, assignedRule(rule)]));
}

interface Part {
  readonly rules: PlannedCosts["rules"];
  readonly stage: number;
  readonly part: string;
  readonly tier: ConfiguredTier;
}

/** Returns every tier of every rule, with the name of its component. */
function partsOf(configured: readonly ConfiguredRule[]): Part[] {
  return configured.flatMap((rule) => {
    const components = componentsOf(rule);
    return components.flatMap(({ split }, index) => {
      const part = partName(rule.name, index, components.length);
      return split.map((tier) => ({ rules: [rule.name], stage: stageOf(rule), part, tier }));
    });
  });
}

function partsOfSteps(steps: readonly NumberedStep[]): Part[] {
  return steps.flatMap(({ name, split, step }) =>
    split.map((tier) => ({
      rules: undefined,
      stage: stageOfStep(step),
      part: ruleOfStep(name),
      tier,
    })),
  );
}

function plannedCosts(parts: readonly Part[]): PlannedCosts[] {
  const planned = new Map<string, PlannedCosts>();
  for (const { rules: ofPart, stage, tier } of parts) {
    if (tier.by !== "cost") continue;
    const weights = costWeights(tier, stage);
    const metric = costMetric(weights);
    const before = planned.has(metric) ? planned.get(metric)?.rules : [];
    const rules = before && ofPart && [...new Set([...before, ...ofPart])];
    planned.set(metric, { ...weights, metric, place: costPlace(weights), rules });
  }
  return [...planned.values()];
}

function directMillionths({ components }: AllocationRule): number {
  const direct = components.filter(({ tiers }) => tiers[0]?.kind === "line");
  return direct.reduce((sum, { ratio }) => sum + Math.round(Number(ratio) * 1_000_000), 0);
}

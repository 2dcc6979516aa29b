import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../clickhouse/statement.js";
import { digestOf } from "../common/digest.js";
import {
  type AllocationRule,
  FIRST_STAGE,
  type RuleComponent,
  type RuleTier,
  type SetOf,
  withOtherProducts,
} from "../domain/allocation-rule.js";
import { stageOfStep, stepOfStage } from "../domain/passed-cost.js";

/**
 * Turns the rules that an ecosystem declares into the rows that the allocation statement joins. A rule set is stored
 * once under the hash of its content and never changed, so a statement that names the hash sees one whole set.
 */
export interface RuleSet {
  readonly hash: string;
  readonly rows: readonly RuleRow[];
  /** Some rule has a set of several metrics, e.g. `bytes_in+bytes_out`, whose usage has to be added up first. */
  readonly combinesMetrics: boolean;
  /**
   * SQL of the columns that configured rules weigh within; undefined if rules depend only on product type and resource.
   */
  readonly configured?: WeighingColumns;
  /** The stages after the first, in order. Empty if no rule weighs by allocated costs. */
  readonly stages: readonly RuleStage[];
  /** Steps that pass costs on after all stages, in order. */
  readonly steps: readonly PassingStep[];
}

/** A step of `pass_on`. */
export interface PassingStep {
  /** Its number among the tenant's steps, from 1. */
  readonly step: number;
  /** The rule whose tiers split what the step takes. */
  readonly rule: string;
  /** Names and globs of identities. */
  readonly from: readonly string[];
  /** Condition on the columns of the bill; undefined: every line. */
  readonly where: string | undefined;
  readonly weights: readonly AllocatedWeights[];
  /** The `set_of` of its tiers. */
  readonly places: ReadonlySet<string>;
}

/** A stage that weighs by what the stages before it allocated. */
export interface RuleStage {
  readonly stage: number;
  readonly weights: readonly AllocatedWeights[];
}

/** Allocated costs that are the weights of rules. */
export interface AllocatedWeights {
  readonly stage: number;
  /** Metric of the usage facts that hold the weights. */
  readonly metric: string;
  /**
   * Names of the rules. Days without a line of theirs get no weights. Undefined for a step of `pass_on`, which needs
   * weights on days with a row that it takes.
   */
  readonly rules: readonly string[] | undefined;
  /** The column within which costs are compared. Undefined: the currency alone. */
  readonly within: WeighingColumn | undefined;
  readonly over: "day" | "month";
  readonly exclude: readonly string[];
}

/**
 * For each `currency@COLUMN` in `set_of` of a tier, the column's SQL expression on the staged bill, and whether
 * chargebacks have the column as well.
 */
export interface WeighingColumns {
  readonly columns: ReadonlyMap<string, WeighingColumn>;
}

export interface WeighingColumn {
  readonly sql: string;
  readonly isInRows: boolean;
}

/** Rules of the configuration, in addition to those of the ecosystem. */
export interface ConfiguredRules extends WeighingColumns {
  readonly rules: readonly AllocationRule[];
  readonly weights: readonly AllocatedWeights[];
  /** In order. */
  readonly steps: readonly Omit<PassingStep, "weights" | "places">[];
  /** Digest of everything that decides which lines the rules take, and which identities lines name. */
  readonly digest: string;
}

/** One tier of one component of one product's rule, as stored in `allocation_rules`. */
export interface RuleRow {
  /** Undefined for the rule of a product type. */
  readonly rule?: string;
  readonly product_type: string;
  readonly component: number;
  readonly component_ratio: string;
  readonly ratio_from: number;
  readonly ratio_to: number;
  readonly tier: number;
  readonly kind: RuleTier["kind"];
  readonly sources: readonly string[];
  readonly set_of: SetOf;
  readonly allocation_detail: string;
  /** Left out for the first stage. */
  readonly stage?: number;
}

/** A component's share is cut in millionths of the line. */
const whole = 1_000_000;

/**
 * Checks the rules and builds their rows. Throws on a rule that could leave a line without a row, or change its sum.
 */
export function buildRuleSet(rules: readonly AllocationRule[], configured?: ConfiguredRules): RuleSet {
  const set = ruleSetOf([...withOtherProducts(rules), ...(configured?.rules ?? [])], configured?.digest);
  const isConfigured = set.rows.some(({ rule, kind }) => rule !== undefined || kind === "line");
  if (!isConfigured) return set;
  const { columns = new Map(), weights = [], steps = [] } = configured ?? {};
  const weightsOf = (stage: number) => weights.filter((each) => each.stage === stage);
  const stages = [...new Set(weights.map(({ stage }) => stage).filter((stage) => stepOfStage(stage) === 0))];
  return {
    ...set,
    configured: { columns },
    stages: stages.sort((a, b) => a - b).map((stage) => ({ stage, weights: weightsOf(stage) })),
    steps: steps.map((each) => {
      const places = new Set(set.rows.filter(({ rule }) => rule === each.rule).map((row) => row.set_of));
      return { ...each, weights: weightsOf(stageOfStep(each.step)), places };
    }),
  };
}

/** A rule whose details and scopes belong to any ledger. */
type AnyRule = AllocationRule<string, string>;

/**
 * Like `buildRuleSet`, but without a rule for product types that have none: their lines do not belong to this ledger.
 */
export function ruleSetOf(rules: readonly AnyRule[], digest?: string): RuleSet {
  const names = rules.map(nameOf);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new RangeError(`two allocation rules for ${duplicate}`);
  const rows = rules.flatMap(ruleRows).sort(byKey);
  const content = digest === undefined ? rows : [rows, digest];
  return {
    hash: digestOf(content),
    rows,
    combinesMetrics: rows.some((row) => row.kind === "usage" && row.sources.length > 1),
    stages: [],
    steps: [],
  };
}

function nameOf({ rule, product_type }: AnyRule): string {
  return rule === undefined ? `product type ${product_type}` : `the name ${rule}`;
}

function ruleRows(rule: AnyRule): RuleRow[] {
  let from = 0;
  const rows = rule.components.flatMap((component, index) => {
    const to = from + millionths(rule, component.ratio);
    const tiers = tierRows(rule, component, { component: index, ratio_from: from, ratio_to: to });
    from = to;
    return tiers;
  });
  if (from !== whole) throw new RangeError(`component ratios of ${nameOf(rule)} do not sum to 1`);
  return rows;
}

function tierRows(
  rule: AnyRule,
  component: RuleComponent<string, string>,
  position: Pick<RuleRow, "component" | "ratio_from" | "ratio_to">,
): RuleRow[] {
  if (component.tiers.findIndex((tier) => tier.kind === "terminal") !== component.tiers.length - 1) {
    throw new RangeError(`the last tier of ${nameOf(rule)}, and only the last, must be terminal`);
  }
  return component.tiers.map((tier, index) => ({
    ...(rule.rule !== undefined && { rule: rule.rule }),
    product_type: rule.product_type,
    ...position,
    component_ratio: component.ratio,
    tier: index,
    kind: tier.kind,
    sources: [...tierSources(tier)].sort(),
    set_of: setOf(tier),
    allocation_detail: tier.detail,
    ...(rule.stage !== undefined && rule.stage !== FIRST_STAGE && { stage: rule.stage }),
  }));
}

function setOf(tier: RuleTier<string, string>): SetOf {
  if (tier.kind === "even" || tier.kind === "cost") return tier.of;
  return tier.kind === "fixed" ? "tenant" : "resource";
}

function tierSources(tier: RuleTier<string, string>): readonly string[] {
  switch (tier.kind) {
    case "usage":
      return tier.metrics;
    case "even":
      return tier.scopes;
    case "owner":
      return ["owner"];
    case "cost":
    case "fixed":
      return [tier.metric];
    case "line":
    case "terminal":
      return [];
  }
}

function millionths(rule: AnyRule, ratio: string): number {
  if (!/^(0|1)(\.\d{1,6})?$/.test(ratio)) {
    throw new RangeError(`component ratio of ${nameOf(rule)} is not a decimal from 0 to 1: ${ratio}`);
  }
  const [int = "0", fraction = ""] = ratio.split(".");
  return Number(int) * whole + Number(fraction.padEnd(6, "0"));
}

function byKey(a: RuleRow, b: RuleRow): number {
  const [before = "", after = ""] = [a.rule, b.rule];
  if (before !== after) return before < after ? -1 : 1;
  if (a.product_type !== b.product_type) return a.product_type < b.product_type ? -1 : 1;
  return a.component - b.component || a.tier - b.tier;
}

/** Stores a rule set, unless it is already stored. */
export async function storeRuleSet(
  client: ClickHouseClient,
  rules: RuleSet,
  signal?: AbortSignal,
): Promise<void> {
  const abort = signal && { abort_signal: signal };
  const query = "SELECT count() AS n FROM allocation_rules WHERE rules_hash = {hash:String}";
  const [row] = await readRows<{ n: number }>(client, { query, params: { hash: rules.hash } }, signal);
  if (row?.n === rules.rows.length) return;
  await client.command({
    query: "ALTER TABLE allocation_rules DELETE WHERE rules_hash = {hash:String}",
    query_params: { hash: rules.hash },
    clickhouse_settings: { mutations_sync: "1" },
    ...abort,
  });
  await client.insert({
    table: "allocation_rules",
    values: rules.rows.map((each) => ({ rules_hash: rules.hash, ...each })),
    format: "JSONEachRow",
    ...abort,
  });
}

/** The parts of an explanation, and how they are formatted. */
import type { AllocationDetail, AllocationMethod, CostType } from "../../../domain/allocation-rule.js";
import type { IdentityNames, KnownNames, ResourceNames } from "../../inventory/names.js";
import type { PipelineRun } from "../../state/pipeline-runs.js";
import type { DimensionFields } from "../dimension-row.js";
import type { PassedHop } from "../row-metadata.js";
import { decimalOf, explainedAmount, shareText } from "./arithmetic.js";
import type { DayLine, DayRow } from "./day.js";
import type { OwnerOnDay } from "./owner.js";
import type { PricedLine } from "./priced.js";
import { isMeasuredBy } from "./recipients.js";
import type { AppliedRule } from "./rule-of-row.js";
import type { Charged, SplitTotals } from "./shares.js";
import type { TriedTier } from "./tiers.js";

/** Amounts, weights and ticks are plain decimals as text. Instants are `2026-01-01T00:00:00Z`. */
export interface Explanation extends Omit<DimensionFields, "cost_type">, IdentityNames, ResourceNames {
  readonly dimension_id: number;
  readonly cost_type: CostType;
  readonly date: string;
  /** Why the identity pays the amount, with rounded figures. */
  readonly sentence: string;
  /** The requested rows of the dimension on the day. The first is explained. */
  readonly rows: ExplainedRow[];
  readonly total_rows: number;
  readonly row: ExplainedRow & AppliedTier;
  /** The steps that passed the row on. */
  readonly path: ExplainedHop[];
  /** The explanation is of how a rule (0) or a step of the path (from 1) gave the cost. */
  readonly giving: number;
  /** The amount that the step split; null for a rule, which splits the line. */
  readonly taken: string | null;
  /** Null if the line is missing. */
  readonly line: ExplainedLine | null;
  /** Null if the rule that produced the row is unknown. */
  readonly rule: ExplainedRule | null;
  readonly split: ExplainedSplit | null;
  readonly tiers: TriedTier[] | null;
  readonly weights_kept: boolean;
  /** Unit of the weights; null for one without a name. */
  readonly weight_unit: string | null;
  readonly this: Recipient;
  readonly recipients: RecipientPage;
  readonly samples: ExplainedSample[];
  readonly owner: OwnerOnDay;
  readonly published_at: string | null;
  readonly input_hash: string | null;
  readonly lacks: string[];
  readonly run: PipelineRun | null;
}

export interface ExplainedRow {
  readonly timestamp: string;
  readonly component: number;
  readonly currency: string;
  readonly line_id: number;
  readonly path_id: number;
  readonly amount: string;
}

/** A step that took the cost from an identity, and how that identity had been given it. */
export interface ExplainedHop extends Omit<PassedHop, "metric"> {
  /** The amount that the step took. */
  readonly amount: string;
}

export interface AppliedTier {
  readonly component_ratio: string;
  readonly tier: number;
  readonly allocation_method: AllocationMethod;
  readonly allocation_detail: AllocationDetail;
  readonly provisional: boolean;
}

export interface ExplainedLine extends Omit<DayLine, "unit_price" | "billed" | "hashes"> {
  readonly unit_price: string | null;
  /** Null unless the bill multiplies out. */
  readonly priced: PricedLine | null;
}

export interface ExplainedRule {
  readonly rules_hash: string;
  readonly product_type: string;
  /** Name of the configured rule; empty for the rule of a product type. */
  readonly rule: string;
  readonly given_up: boolean;
  readonly rounding_offset: string;
  readonly residue_point: string;
  readonly components: ExplainedComponent[];
}

export interface ExplainedComponent {
  readonly component: number;
  readonly ratio: string;
  readonly ticks: string;
  readonly amount: string;
  readonly has_residue: boolean;
}

export interface ExplainedSplit {
  readonly decimal_places: number;
  readonly tick: string;
  readonly line_ticks: string;
  readonly residue: string;
  readonly component_ticks: string;
  readonly total_weight: string;
  readonly rounding_offset: string;
  readonly residue_point: string;
}

export interface Recipient extends IdentityNames {
  readonly identity_id: string;
  readonly amount: string;
  readonly weight: string | null;
  readonly share: string | null;
  readonly weight_up_to: string | null;
  readonly ticks: string | null;
  readonly has_residue: boolean | null;
}

export interface RecipientPage {
  readonly items: Recipient[];
  readonly total: number;
  readonly page: number;
  readonly page_size: number;
  readonly pages: number;
}

export interface ExplainedSample {
  readonly timestamp: string;
  readonly metric: string;
  readonly quantity: string;
}

/** The dimension of the explained row. */
export type ExplainedDimension = DimensionFields & { readonly dimension_id: number };

export function dimensionOf(
  { dimension_id, ecosystem, tenant_id, env_id, resource_id, ...rest }: ExplainedDimension,
  names: KnownNames,
) {
  const { product_category, product_type, identity_id, cost_type } = rest;
  return {
    dimension_id,
    ecosystem,
    tenant_id,
    env_id,
    resource_id,
    product_category,
    product_type,
    identity_id,
    cost_type: cost_type as CostType,
    ...names.identity(identity_id),
    ...names.resource(resource_id),
  };
}

export function rowOf({ timestamp, component, currency, line_id, path_id, amount }: DayRow): ExplainedRow {
  return { timestamp, component, currency, line_id, path_id, amount };
}

export function appliedTierOf(row: DayRow): AppliedTier {
  const { component_ratio, tier, allocation_method, allocation_detail, provisional } = row;
  return { component_ratio, tier, allocation_method, allocation_detail, provisional };
}

export function ruleOf(
  { tiers, line, allocationFailed: isGivenUp }: AppliedRule,
  { rules_hash }: DayRow,
): ExplainedRule {
  return {
    rules_hash,
    product_type: tiers[0]?.product_type ?? "",
    rule: tiers[0]?.rule ?? "",
    given_up: isGivenUp,
    rounding_offset: decimalOf(line.offset, 6),
    residue_point: decimalOf(line.residuePoint, 6),
    components: line.components.map(({ component, ratio, ticks, hasResidue }) => ({
      component,
      ratio,
      ticks: ticks.toString(),
      amount: decimalOf(explainedAmount(line, ticks, hasResidue)),
      has_residue: hasResidue && line.residue > 0n,
    })),
  };
}

export function splitOf(
  appliedRule: AppliedRule,
  { decimal_places }: DayRow,
  { scale, weight, offset, residuePoint }: SplitTotals,
): ExplainedSplit {
  const { line, component } = appliedRule;
  return {
    decimal_places,
    tick: decimalOf(line.tick),
    line_ticks: line.ticks.toString(),
    residue: decimalOf(line.residue),
    component_ticks: component.ticks.toString(),
    total_weight: weightText(appliedRule, scale, weight.toString()),
    rounding_offset: weightText(appliedRule, scale, offset.toString()),
    residue_point: weightText(appliedRule, scale, residuePoint.toString()),
  };
}

/** Usage, costs and shares are in millionths of the metric's unit, members are counted. */
function weightText({ tier }: AppliedRule, scale: number, weight: string): string {
  return isMeasuredBy(tier) ? quantityText(weight, scale) : weight;
}

export function recipientOf(
  names: KnownNames,
  appliedRule: AppliedRule | undefined,
  totals: SplitTotals | undefined,
) {
  return ({ identity_id, amount, weighed }: Charged): Recipient => {
    const named = Object.assign({ identity_id }, names.identity(identity_id), { amount });
    if (appliedRule === undefined || totals === undefined || weighed === undefined)
      return Object.assign(named, unexplained);
    const { by, has_residue } = weighed;
    return Object.assign(named, {
      weight: weightText(appliedRule, by.scale, by.weight),
      share: shareText(BigInt(by.weight), totals.weight),
      weight_up_to: weightText(appliedRule, by.scale, by.weight_up_to),
      ticks: by.ticks,
      has_residue,
    });
  };
}

const unexplained = { weight: null, share: null, weight_up_to: null, ticks: null, has_residue: null };

/** Converts millionths, or units with `scale` more decimal places. */
export const quantityText = (text: string, scale: number) => decimalOf(BigInt(text), 6 + scale);

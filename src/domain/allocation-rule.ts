/**
 * Allocation rules as data. An ecosystem declares rules for its product types, and `allocate` turns them into rows that
 * one SQL statement joins, so that no product needs allocation code of its own.
 *
 * A line is divided into components by ratio. For each component, the first tier that finds a recipient takes all of
 * it.
 */

export interface AllocationRule<
  Detail extends string = AllocationDetail,
  Scope extends string = IdentityScope,
> {
  /**
   * Product type as in the bill. `*` is the rule for product types without a rule of their own. Empty for a configured
   * rule.
   */
  readonly product_type: string;
  /** Name of a configured rule, which selects lines by its conditions. Undefined for the rule of a product type. */
  readonly rule?: string;
  /** Rules of a later stage weigh by what the stages before it allocated. Default: 1, the first. */
  readonly stage?: number;
  readonly components: readonly RuleComponent<Detail, Scope>[];
}

export interface RuleComponent<
  Detail extends string = AllocationDetail,
  Scope extends string = IdentityScope,
> {
  /** Share of the line, a decimal string with at most six places ("0.7"). Ratios of a rule sum to exactly 1. */
  readonly ratio: string;
  /** Tried in order. The last tier is `terminal`, so that every line gets at least one row. */
  readonly tiers: readonly RuleTier<Detail, Scope>[];
}

export type RuleTier<Detail extends string = AllocationDetail, Scope extends string = IdentityScope> =
  /** By measured usage: among the identities whose usage of these metrics on the line's resource and day is above 0. */
  | { readonly kind: "usage"; readonly metrics: readonly string[]; readonly detail: Detail }
  /** Evenly among the members of the identity sets of these scopes. */
  | {
      readonly kind: "even";
      readonly scopes: readonly (Scope | ListScope)[];
      readonly of: SetOf;
      readonly detail: Detail;
    }
  /** Everything to the identity that the line names. */
  | { readonly kind: "line"; readonly detail: Detail }
  /** By direct charges, or by costs of earlier stages, which are staged as usage facts of this metric. */
  | { readonly kind: "cost"; readonly metric: string; readonly of: SetOf; readonly detail: Detail }
  /** By configured shares, which are staged as usage facts of this metric. */
  | { readonly kind: "fixed"; readonly metric: string; readonly detail: Detail }
  /** Everything to the one member of the `owner` set of the line's resource. */
  | { readonly kind: "owner"; readonly detail: Detail }
  /** Everything to UNALLOCATED: no recipient was found, or there can be none. */
  | { readonly kind: "terminal"; readonly detail: Detail };

/**
 * Says which facts and identity sets a tier reads: those of the line's resource, of the whole tenant, of the line's
 * currency, or of the line's currency together with its value of a column.
 */
export type SetOf = "resource" | "tenant" | "currency" | `currency@${string}`;

/** The identities that a configured rule lists. */
export type ListScope = `list:${string}`;

export const identityScopes = ["resource_active", "metrics_derived", "tenant_period", "owner"] as const;
export type IdentityScope = (typeof identityScopes)[number];

/** Details of an allocation that worked as intended. */
export const healthyDetails = [
  "usage_ratio_allocation",
  "even_split_allocation",
  "direct_owner_allocation",
  "line_identity_allocation",
  "cost_ratio_allocation",
  "fixed_ratio_allocation",
  "shared_by_design",
  "unattributable_by_design",
] as const;

/** Details of an allocation issue: a person should look at the row. */
export const issueDetails = [
  "no_metrics_located",
  "metrics_fetch_failed",
  "no_usage_for_active_identities",
  "no_active_identities_located",
  "no_identities_located",
  "owner_unknown",
  "no_identity_on_line",
  "no_allocator_for_product_type",
  "allocation_failed",
] as const;

export const allocationDetails = [...healthyDetails, ...issueDetails] as const;
export type AllocationDetail = (typeof allocationDetails)[number];

/** Product types without a rule are still charged, to `UNALLOCATED`. */
const ruleOfOtherProducts: AllocationRule = {
  product_type: "*",
  components: [{ ratio: "1", tiers: [{ kind: "terminal", detail: "no_allocator_for_product_type" }] }],
};

/** The rules of an ecosystem, with one for the product types that have none. */
export function withOtherProducts(rules: readonly AllocationRule[]): readonly AllocationRule[] {
  return rules.some((rule) => rule.product_type === "*") ? rules : [...rules, ruleOfOtherProducts];
}

/** The stage of rules that do not weigh by allocated costs. */
export const FIRST_STAGE = 1;
/** The highest stage that a rule can name. */
export const LAST_STAGE = 8;

export const allocationMethods = [
  "usage_ratio",
  "direct_owner",
  "even_split",
  "line_identity",
  "cost_ratio",
  "fixed_ratio",
  "terminal",
] as const;
export type AllocationMethod = (typeof allocationMethods)[number];

/** `passed`: a step of `pass_on` took the cost from another identity. */
export const costTypes = ["usage", "shared", "passed"] as const;
export type CostType = (typeof costTypes)[number];

/** The identity of costs without a recipient. */
export const UNALLOCATED = "UNALLOCATED";

/** Texts that programs write for a missing value, in lower case. They are never names. */
export const missingValueTexts: readonly string[] = ["null", "none", "n/a", "nan", "\\n"];

/**
 * How a product type is allocated, as data. An ecosystem declares rules, `allocate` turns them into rows that one SQL
 * statement joins: nobody writes allocation code per product.
 *
 * A line is divided into components by ratio; for each component the first tier that finds anybody takes all of it.
 */

export interface AllocationRule<
  Detail extends string = AllocationDetail,
  Scope extends string = IdentityScope,
> {
  /** Product type as the bill names it; `*` is the rule for product types without their own. Empty for a configured rule. */
  readonly product_type: string;
  /** Name of a configured rule, which takes lines by its conditions. Left out: the rule of a product type. */
  readonly rule?: string;
  readonly components: readonly RuleComponent<Detail, Scope>[];
}

export interface RuleComponent<
  Detail extends string = AllocationDetail,
  Scope extends string = IdentityScope,
> {
  /** Share of the line, a decimal string with at most six places ("0.7"). Ratios of a rule sum to exactly 1. */
  readonly ratio: string;
  /** Tried in order. The last one is `terminal`, so that no line is ever left without a row. */
  readonly tiers: readonly RuleTier<Detail, Scope>[];
}

export type RuleTier<Detail extends string = AllocationDetail, Scope extends string = IdentityScope> =
  /** Weighed by measured usage: every identity with usage above 0 of the metrics on the line's resource and day. */
  | { readonly kind: "usage"; readonly metrics: readonly string[]; readonly detail: Detail }
  /** Divided evenly among the members of the identity sets of these scopes. */
  | {
      readonly kind: "even";
      readonly scopes: readonly (Scope | ListScope)[];
      readonly of: SetOf;
      readonly detail: Detail;
    }
  /** The whole to the identity that the line names. */
  | { readonly kind: "line"; readonly detail: Detail }
  /** Weighed by what was charged directly, which is staged as usage facts of this metric. */
  | { readonly kind: "cost"; readonly metric: string; readonly of: SetOf; readonly detail: Detail }
  /** Weighed by shares of the configuration, which are staged as usage facts of this metric. */
  | { readonly kind: "fixed"; readonly metric: string; readonly detail: Detail }
  /** The whole to the one member of the `owner` set of the line's resource. */
  | { readonly kind: "owner"; readonly detail: Detail }
  /** Nobody found, or nobody can be: the whole to UNALLOCATED. */
  | { readonly kind: "terminal"; readonly detail: Detail };

/**
 * Whose facts and identity sets a tier reads: those of the line's resource, those of the whole tenant, those of its currency, or of
 * its currency and its value of a column.
 */
export type SetOf = "resource" | "tenant" | "currency" | `currency@${string}`;

/** Set of the identities that a configured rule lists. */
export type ListScope = `list:${string}`;

export const identityScopes = ["resource_active", "metrics_derived", "tenant_period", "owner"] as const;
export type IdentityScope = (typeof identityScopes)[number];

/** Details of a healthy allocation. */
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

/** Details that make a row an allocation issue: somebody should look. */
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

export const costTypes = ["usage", "shared"] as const;
export type CostType = (typeof costTypes)[number];

/** Identity of whatever nobody was found for. */
export const UNALLOCATED = "UNALLOCATED";

/** Texts, in any case, that programs write where there is no value: they are nobody's name. */
export const noNames: readonly string[] = ["null", "none", "n/a", "nan", "\\n"];

/**
 * Lists the tiers of a component that were tried, and why each skipped tier did not apply, from the facts that are
 * published with the rows.
 */
import type { AllocationDetail, SetOf } from "../../../domain/allocation-rule.js";
import type { RuleTierRow } from "./day.js";
import type { DayFacts } from "./day-facts.js";

export const tierOutcomes = [
  "used",
  "no_usage",
  "no_costs",
  "names_nobody",
  "metrics_missing",
  "no_identities",
  "no_owner",
  "several_owners",
  "unclear",
  "not_reached",
  "given_up",
] as const;
export type TierOutcome = (typeof tierOutcomes)[number];

export interface TriedTier {
  readonly tier: number;
  readonly kind: RuleTierRow["kind"];
  readonly set_of: SetOf;
  /** The detail of rows of this tier, unless data was missing. */
  readonly allocation_detail: AllocationDetail;
  readonly outcome: TierOutcome;
  readonly sources: TierSource[];
}

/** A metric, or a scope of identity sets. */
export interface TierSource {
  readonly name: string;
  /** Identities with usage above 0, or members; null for tiers that were not skipped. */
  readonly identities: number | null;
  /** Why it could not be fetched; null if it was, or if the tier was not tried. */
  readonly gap: string | null;
}

/**
 * `appliedTier` is the position of the tier that applied; undefined if the day was given up and no tier was tried. `tiers` are
 * in order.
 */
export function triedTiers(
  {
    tiers,
    appliedTier,
  }: { readonly tiers: readonly RuleTierRow[]; readonly appliedTier: number | undefined },
  resourceId: string,
  facts: DayFacts,
): TriedTier[] {
  return tiers.map((tier) => {
    const { tier: position, kind, set_of, allocation_detail } = tier;
    const found = sourcesOf(tier, resourceId, facts);
    const outcome = outcomeOf(tier, appliedTier, found);
    const isSkipped = appliedTier !== undefined && position < appliedTier;
    const sources = found.map((each) => (isSkipped ? each : { ...each, identities: null }));
    return { tier: position, kind, set_of, allocation_detail, outcome, sources };
  });
}

function sourcesOf({ kind, set_of, sources }: RuleTierRow, resourceId: string, facts: DayFacts) {
  const resource = set_of === "tenant" ? "" : resourceId;
  return sources.map((source) => {
    const found = facts[kind === "usage" ? "usage" : "set"].find(
      ({ name, of_resource }) => name === source && of_resource === resource,
    );
    const gap = facts.gap.find(({ name }) => name === source);
    return { name: source, identities: Number(found?.value ?? 0), gap: gap?.value ?? null };
  });
}

/** Repeats the checks of the allocation statement, in its order. */
function outcomeOf(
  { tier, kind }: RuleTierRow,
  appliedTier: number | undefined,
  sources: readonly { readonly identities: number; readonly gap: string | null }[],
): TierOutcome {
  if (appliedTier === undefined) return "given_up";
  if (tier === appliedTier) return "used";
  if (tier > appliedTier) return "not_reached";
  const found = sources.reduce((sum, { identities }) => sum + identities, 0);
  switch (kind) {
    case "usage":
      if (sources.some(({ gap }) => gap !== null)) return "metrics_missing";
      return found === 0 ? "no_usage" : "unclear";
    case "even":
      return found === 0 ? "no_identities" : "unclear";
    case "owner":
      if (found === 0) return "no_owner";
      return found > 1 ? "several_owners" : "unclear";
    case "line":
      return "names_nobody";
    case "cost":
      return "no_costs";
    case "fixed":
    case "terminal":
      return "unclear";
  }
}

/**
 * Which tiers of a component were tried, and why each that did not apply was skipped, according to the facts that are published
 * with the rows.
 */
import type { AllocationDetail, SetOf } from "../../../config/allocation-rule.js";
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
  /** Of rows of this tier, unless something was missing. */
  readonly allocation_detail: AllocationDetail;
  readonly outcome: TierOutcome;
  readonly sources: TierSource[];
}

/** A metric, or a scope of identity sets. */
export interface TierSource {
  readonly name: string;
  /** Identities with usage above 0, or members; null of tiers that were not passed over. */
  readonly identities: number | null;
  /** Why it could not be fetched; null when it was, or when the tier was not tried. */
  readonly gap: string | null;
}

/** `used`: position of the tier that applied; undefined where the day was given up and none was tried. Tiers in order. */
export function triedTiers(
  { tiers, used }: { readonly tiers: readonly RuleTierRow[]; readonly used: number | undefined },
  resourceId: string,
  facts: DayFacts,
): TriedTier[] {
  return tiers.map((tier) => {
    const { tier: position, kind, set_of, allocation_detail } = tier;
    const found = sourcesOf(tier, resourceId, facts);
    const outcome = outcomeOf(tier, used, found);
    const isPassedOver = used !== undefined && position < used;
    const sources = found.map((each) => (isPassedOver ? each : { ...each, identities: null }));
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

/** What the allocation statement looks at, in its order. */
function outcomeOf(
  { tier, kind }: RuleTierRow,
  used: number | undefined,
  sources: readonly { readonly identities: number; readonly gap: string | null }[],
): TierOutcome {
  if (used === undefined) return "given_up";
  if (tier === used) return "used";
  if (tier > used) return "not_reached";
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

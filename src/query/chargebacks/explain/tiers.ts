/**
 * Which tiers of a component were tried, and why each that did not apply was skipped, according to the facts that are published
 * with the rows.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { AllocationDetail, SetOf } from "../../../config/allocation-rule.js";
import { readRows, type Statement } from "../../../store/clickhouse/statement.js";
import type { RuleTierRow } from "./day.js";

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

interface Place {
  readonly day: string;
  readonly resource_id: string;
}

interface TierFact {
  readonly fact: "usage" | "set" | "gap";
  readonly source: string;
  /** Empty: of the whole tenant. */
  readonly of_resource: string;
  readonly identities: number;
  readonly reason: string;
}

/** Rows `{fact, source, of_resource, identities, reason}`: what tiers find that were passed over, and what was missing of all that were tried. */
export function factsOfTiers(
  { day, resource_id }: Place,
  { passed, tried }: { readonly passed: readonly RuleTierRow[]; readonly tried: readonly RuleTierRow[] },
): Statement {
  const metrics = sourcesOfKinds(passed, ["usage"]);
  const scopes = sourcesOfKinds(passed, ["even", "owner"]);
  const gaps = sourcesOfKinds(tried, ["usage", "even", "owner"]);
  // What is not asked for is not read: each part costs as much as a statement.
  const parts = [
    `
SELECT 'gap' AS fact, toString(metric) AS source, toString(resource_id) AS of_resource, toUInt64(0) AS identities, reason
FROM usage_gaps WHERE day = {day:Date} AND metric IN {gaps:Array(String)} AND resource_id = {resource_id:String}`,
    ...(metrics.length === 0
      ? []
      : [
          `
SELECT 'usage' AS fact, toString(metric) AS source, toString(resource_id) AS of_resource, uniqExact(identity_id) AS identities, '' AS reason
FROM usage WHERE day = {day:Date} AND metric IN {metrics:Array(String)} AND resource_id = {resource_id:String} AND micro_units > 0
GROUP BY source, of_resource`,
        ]),
    ...(scopes.length === 0
      ? []
      : [
          `
SELECT 'set' AS fact, toString(scope) AS source, toString(resource_id) AS of_resource, uniqExact(identity_id) AS identities, '' AS reason
FROM identity_sets WHERE day = {day:Date} AND scope IN {scopes:Array(String)} AND resource_id IN ({resource_id:String}, '')
GROUP BY source, of_resource`,
        ]),
  ];
  return {
    query: parts.join("\nUNION ALL"),
    params: {
      ...{ day, resource_id, gaps },
      ...(metrics.length > 0 && { metrics }),
      ...(scopes.length > 0 && { scopes }),
    },
  };
}

function sourcesOfKinds(tiers: readonly RuleTierRow[], kinds: readonly RuleTierRow["kind"][]): string[] {
  return [...new Set(tiers.filter(({ kind }) => kinds.includes(kind)).flatMap((tier) => tier.sources))];
}

/** `used`: position of the tier that applied; undefined where the day was given up and none was tried. Tiers in order. */
export async function readTiers(
  client: ClickHouseClient,
  place: Place,
  { tiers, used }: { readonly tiers: readonly RuleTierRow[]; readonly used: number | undefined },
  signal?: AbortSignal,
): Promise<TriedTier[]> {
  const tried = tiers.filter(({ tier }) => used !== undefined && tier <= used);
  const read = factsOfTiers(place, { tried, passed: tried.filter(({ tier }) => tier !== used) });
  const facts = tried.length === 0 ? [] : await readRows<TierFact>(client, read, signal);
  return tiers.map((tier) => {
    const { tier: position, kind, set_of, allocation_detail } = tier;
    const found = sourcesOf(tier, place, facts);
    const outcome = outcomeOf(tier, used, found);
    const isPassedOver = used !== undefined && position < used;
    const sources = found.map((each) => (isPassedOver ? each : { ...each, identities: null }));
    return { tier: position, kind, set_of, allocation_detail, outcome, sources };
  });
}

function sourcesOf({ kind, set_of, sources }: RuleTierRow, place: Place, facts: TierFact[]) {
  const resource = set_of === "tenant" ? "" : place.resource_id;
  const of = (fact: TierFact["fact"], name: string) =>
    facts.filter((each) => each.fact === fact && each.source === name);
  return sources.map((name) => {
    const found = of(kind === "usage" ? "usage" : "set", name).find((each) => each.of_resource === resource);
    return { name, identities: found?.identities ?? 0, gap: of("gap", name)[0]?.reason ?? null };
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

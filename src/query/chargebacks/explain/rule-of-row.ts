/** Recalculates how a row was allocated: its tier and ticks, from its line and its rule. */
import { type ComponentTicks, type LineTicks, ticksOfLine } from "./arithmetic.js";
import { type DayLine, hashOf, type RuleTierRow } from "./day.js";
import type { GivenRow } from "./passed-row.js";

export interface AppliedRule {
  readonly tiers: readonly RuleTierRow[];
  /** The tier that applied. */
  readonly tier: Pick<RuleTierRow, "kind" | "sources" | "set_of">;
  readonly line: LineTicks;
  readonly component: ComponentTicks;
  /** The hashes that determine its recipients. */
  readonly recipientsHash: bigint;
  readonly residueHash: bigint;
  /** The day's calculation failed repeatedly, so the whole line went to `UNALLOCATED`. */
  readonly allocationFailed: boolean;
}

/** Returns undefined for a row from before its rules were stored, and if line and rule do not match the row. */
export function appliedRuleOf(
  rules: readonly RuleTierRow[],
  row: GivenRow,
  line: DayLine | undefined,
): AppliedRule | undefined {
  const tiers = rules.filter(({ component }) => component === componentOf(row));
  const tier = tiers.find((each) => each.tier === row.tier);
  if (line === undefined || tier === undefined || row.decimal_places === 0) return undefined;
  // A rule may use this detail itself.
  const isGivenUp =
    row.allocation_detail === "allocation_failed" && tier.allocation_detail !== "allocation_failed";
  const firstTiers = rules.filter((each) => each.tier === 0);
  const ranges = isGivenUp
    ? [{ component: 0, ratio: "1", from: 0n, to: 1_000_000n }]
    : firstTiers.map(({ component, component_ratio: ratio, ratio_from, ratio_to }) => ({
        component,
        ratio,
        from: BigInt(ratio_from),
        to: BigInt(ratio_to),
      }));
  const hashes = {
    components: hashOf(line, "components"),
    residueComponent: hashOf(line, "residue component"),
  };
  const ticks = ticksOfLine(row.taken ?? line.total_cost, row.decimal_places, ranges, hashes);
  const component = ticks.components.find((each) => each.component === componentOf(row));
  if (component === undefined) return undefined;
  const unallocated = { kind: "terminal", sources: [], set_of: "resource" } as const;
  return {
    tiers,
    tier: isGivenUp ? unallocated : tier,
    line: ticks,
    component,
    allocationFailed: isGivenUp,
    recipientsHash: hashOf(line, "recipients"),
    residueHash: hashOf(line, "residue recipient"),
  };
}

/** A step splits what it takes as a whole, whichever component of the line that was. */
function componentOf({ taken, component }: GivenRow): number {
  return taken === undefined ? component : 0;
}

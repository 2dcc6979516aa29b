/**
 * The parts of the allocation statement that split the other costs of a bill (domain/other-costs.ts). Each row covers a
 * range of the line's ticks of the charged cost, and every other cost is cut at the same points, in ticks. What such a
 * cost has below one tick goes to the last row. So the parts of a line add up to each of its costs exactly.
 */
import { type OtherCost, otherCosts } from "../../domain/other-costs.js";

export interface CostParts {
  /** The costs. */
  readonly ofBill: readonly OtherCost[];
  /** Columns to append to those of a component and of a row. */
  readonly ofComponent: string;
  readonly ofRow: string;
  /** SQL to append to the ARRAY JOIN that makes rows. */
  readonly joined: string;
  /** Columns of a chargeback, with their expressions. */
  readonly columns: Readonly<Record<string, string>>;
}

export const withoutCosts: CostParts = { ofBill: [], ofComponent: "", ofRow: "", joined: "", columns: {} };

/** @param ticksBefore ticks of the line's components before this one */
export function costParts(ticksBefore: string): CostParts {
  const ofRow = otherCosts.map((name) => {
    const raw = `raw_${name}`;
    const cut = (ticks: string) => `intDiv(intDiv(${raw}, tick) * (${ticks}), line_ticks)`;
    const belowTick = `if(until = line_ticks AND part != 0, ${raw} - intDiv(${raw}, tick) * tick, 0)`;
    // A line below one tick has one row. A cost that equals the charged one is split like it, to the last unit.
    return `toInt128(multiIf(${raw} = raw, amount, line_ticks = 0, ${raw}, (${cut("until")} - ${cut("until - part")}) * tick + ${belowTick})) AS part_${name}`;
  });
  return {
    ofBill: otherCosts,
    ofComponent: `, ${ticksBefore} AS ticks_before`,
    ofRow: `, ticks_before + up_to AS until, ${ofRow.join(",\n      ")}`,
    joined: ", ticks_up_to AS up_to",
    columns: Object.fromEntries(
      otherCosts.map((name) => [name, `reinterpret(part_${name}, 'Decimal(38, 12)')`]),
    ),
  };
}

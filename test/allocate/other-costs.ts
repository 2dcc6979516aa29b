import { type OtherCost, otherCosts } from "../../src/domain/other-costs.js";
import type { RefereeLine } from "./referee.js";

/** Ways in which another cost of a line differs from the charged one. */
const kinds = {
  equal: (cost: bigint) => cost,
  zero: () => 0n,
  smaller: (cost: bigint) => (cost * 7n) / 10n + 1n,
  larger: (cost: bigint) => (cost * 13n) / 10n + 123n,
  opposite: (cost: bigint) => -cost / 3n - 5n,
  tiny: () => 7n,
} as const;
export type OtherCostKind = keyof typeof kinds;
export const otherCostKinds = Object.keys(kinds) as OtherCostKind[];

/** The kind of each cost depends on the key of the line, so that lines with the same key have the same one. */
export function kindOf({ key, currency }: Pick<RefereeLine, "key" | "currency">, name: OtherCost) {
  const text = `${key} ${currency} ${name}`;
  const number = [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 100_003, 7);
  return otherCostKinds[number % otherCostKinds.length] ?? "equal";
}

/** Adds the other costs to a line. */
export function withOtherCosts<Line extends RefereeLine>(line: Line): Line {
  const others = otherCosts.map((name) => [name, kinds[kindOf(line, name)](line.cost)]);
  return { ...line, others: Object.fromEntries(others) };
}

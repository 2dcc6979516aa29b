/** Conditions on identities that steps of `pass_on` take costs from. Such an identity receives nothing afterwards. */
import { isOneOf } from "../../clickhouse/sql-text.js";
import { UNALLOCATED } from "../../domain/allocation-rule.js";

/** A step's number, and its names and globs of identities. */
interface TakingStep {
  readonly from: readonly string[];
  readonly step: number;
}

/** Returns a condition: the identity is one that the step takes from. No glob matches UNALLOCATED. */
export function isTakenFrom(identity: string, { from }: Pick<TakingStep, "from">): string {
  const matches = isOneOf(identity, from);
  return from.includes(UNALLOCATED) ? matches : `(${identity} != '${UNALLOCATED}' AND ${matches})`;
}

/** Returns a condition, to append to another one: no step up to this one takes from the identity. */
export function isNotEmptied(identity: string, steps: readonly TakingStep[], last: number): string {
  return steps
    .filter(({ step }) => step <= last)
    .map((each) => ` AND NOT ${isTakenFrom(identity, each)}`)
    .join("");
}

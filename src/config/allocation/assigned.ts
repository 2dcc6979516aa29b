/** The assignments of a tenant, as the identity source `assigned` looks lines up in them. */
import { addDays, type DayRange, earliest, firstOfMonth, latest } from "../../common/days.js";
import { digestOf } from "../../common/digest.js";
import type { AssignedPeriod } from "../../domain/assignment.js";
import { LAST_DAY } from "../../domain/stored-days.js";
import { hashOf, type IdentityMap } from "./identity-map.js";

export interface Assigned {
  readonly periods: readonly AssignedPeriod[];
  /** Stored like the map of an identity source. A key has a resource and its first and last day, see `PERIOD_SEPARATOR`. */
  readonly map: IdentityMap;
}

/** No resource has a control character in its id. */
export const PERIOD_SEPARATOR = "\t";

export function assignedOf(periods: readonly AssignedPeriod[]): Assigned | undefined {
  if (periods.length === 0) return undefined;
  const entries = new Map(
    periods.map(({ resource_id, identity_id, valid_from, valid_to }) => [
      [resource_id, valid_from, valid_to ?? LAST_DAY].join(PERIOD_SEPARATOR),
      identity_id,
    ]),
  );
  return { periods, map: { hash: hashOf(entries), entries } };
}

/**
 * Returns a digest of the assignments that count for a window, or null without any. Weights over a month also depend on
 * the days of the month before the window.
 */
export function assignedDigest(assigned: Assigned | undefined, { start, end }: DayRange): string | null {
  const [from, to] = [firstOfMonth(start), addDays(end, -1)];
  const parts = (assigned?.periods ?? []).flatMap(({ resource_id, identity_id, valid_from, valid_to }) => {
    const [first, last] = [latest(valid_from, from), earliest(valid_to ?? LAST_DAY, to)];
    return first > last ? [] : [[resource_id, identity_id, first, last]];
  });
  return parts.length === 0 ? null : digestOf(parts.sort(byText));
}

function byText(a: readonly string[], b: readonly string[]): number {
  return a.join(PERIOD_SEPARATOR) < b.join(PERIOD_SEPARATOR) ? -1 : 1;
}

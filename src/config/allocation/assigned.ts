/** The assignments of a tenant, as the identity source `assigned` looks lines up in them. */
import type { AssignedPeriod } from "../../domain/assignment.js";
import { hashOf, type IdentityMap, keyOfDays } from "./identity-map.js";

export interface Assigned {
  readonly periods: readonly AssignedPeriod[];
  /** Stored like the map of an identity source, from resources to identities. */
  readonly map: IdentityMap;
}

export function assignedOf(periods: readonly AssignedPeriod[]): Assigned | undefined {
  if (periods.length === 0) return undefined;
  const entries = new Map(
    periods.map(({ resource_id, identity_id, valid_from, valid_to }) => [
      keyOfDays(resource_id, { valid_from, valid_to: valid_to ?? undefined }),
      identity_id,
    ]),
  );
  return { periods, map: { hash: hashOf(entries), hasDays: true, entries } };
}

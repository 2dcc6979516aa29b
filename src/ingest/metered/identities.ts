/** Records of identities that a query found, and of those that are named in the configuration. */
import { DAY_SECONDS } from "../../common/days.js";
import type { IdentityRecord } from "../ecosystem.js";
import { type MeteredIdentitySource, namesIdentities } from "./identity-source.js";

/** Types of discovered identities. */
export const PRINCIPAL = "principal";
export const TOPIC_OWNER = "topic_owner";
/** A principal is visible only while it is active. One that is idle for a weekend or a week still exists. */
export const PRINCIPAL_GRACE_SECONDS = 8 * DAY_SECONDS;

export function namedIdentities(source: MeteredIdentitySource | undefined): IdentityRecord[] {
  if (!namesIdentities(source)) return [];
  return source.static_identities.map((identity) => ({
    identity_id: identity.identity_id,
    identity_type: identity.identity_type,
    display_name: identity.display_name ?? identity.identity_id,
    created_at: null,
    metadata: { team: identity.team ?? teamOf(source, identity.identity_id) },
  }));
}

/** Returns the distinct values of a label that are not empty. */
export function labelValues(
  series: readonly { readonly labels: Readonly<Record<string, string>> }[],
  label: string,
): string[] {
  const values = new Set(series.map(({ labels }) => labels[label] ?? ""));
  values.delete("");
  return [...values].sort();
}

/** Returns the record of a discovered principal. Its team is its display name; the rows keep the principal. */
export function principalRecord(source: MeteredIdentitySource, id: string): IdentityRecord {
  const team = teamOf(source, id);
  return {
    identity_id: id,
    identity_type: PRINCIPAL,
    display_name: team === source.default_team ? id : team,
    created_at: null,
    metadata: { raw_principal: id, team },
  };
}

/** Returns the record of an identity that owns topics. */
export function topicOwnerRecord(source: MeteredIdentitySource, id: string): IdentityRecord {
  return {
    ...principalRecord(source, id),
    identity_type: TOPIC_OWNER,
    metadata: { team: teamOf(source, id) },
  };
}

function teamOf({ principal_to_team, default_team }: MeteredIdentitySource, id: string): string {
  return Object.hasOwn(principal_to_team, id) ? (principal_to_team[id] ?? default_team) : default_team;
}

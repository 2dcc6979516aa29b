/**
 * Finds the owner that pays for a principal. Owners are service accounts, users and identity pools. An API key is
 * charged to its owner; neither a key nor an identity provider is charged itself.
 */
import type { KnownIdentity, KnownResource } from "../../known.js";
import { crnValue, parseCrn } from "./crn.js";
import { inventoryText } from "./inventory/fields.js";

export const ownerTypes: ReadonlySet<string> = new Set(["service_account", "user", "identity_pool"]);

/**
 * Ids that are owners even if they are missing from the inventory, such as those deleted before it was first gathered.
 */
const OWNER_ID = /^(sa|u|pool)-./;

/** How the vendor masks values in a connector's configuration. */
const MASKED = /^\*+$/;

/** Returns the id in a principal, which may be written `User:sa-1`, or as a CRN. */
export function principalId(principal: string | null): string | null {
  if (principal === null) return null;
  const crn = parseCrn(principal);
  if (crn === undefined) return principal.replace(/^User:/, "") || null;
  const owner = crn.parts.findLast(({ value }) => OWNER_ID.test(value)) ?? crn.parts.at(-1);
  return owner === undefined || owner.value === crnValue(crn, "organization") ? null : owner.value;
}

type OwnedResource = Pick<KnownResource, "resource_type" | "owner_id" | "metadata">;

export interface Owners {
  /** Undefined if there is no owner: a key without an owner, or an unknown id. */
  ofPrincipal(principal: string): string | undefined;
  ofKey(key: Pick<KnownIdentity, "metadata">): string | undefined;
  /** Returns the one identity that is responsible for a connector or a ksqlDB cluster. */
  ofResource(resource: OwnedResource | undefined): string | undefined;
}

type NamedIdentity = Pick<KnownIdentity, "identity_id" | "identity_type" | "metadata">;

export function indexOwners({ identities }: { readonly identities: readonly NamedIdentity[] }): Owners {
  const byId = new Map(identities.map((identity) => [identity.identity_id, identity]));

  function ofPrincipal(principal: string): string | undefined {
    const id = principalId(principal);
    if (id === null) return undefined;
    const identity = byId.get(id);
    if (identity === undefined) return OWNER_ID.test(id) ? id : undefined;
    if (identity.identity_type === "api_key") return ofKey(identity);
    return ownerTypes.has(identity.identity_type) ? id : undefined;
  }

  function ofKey({ metadata }: Pick<KnownIdentity, "metadata">): string | undefined {
    const owner = principalId(inventoryText(metadata, "owner_id"));
    return owner === null || byId.get(owner)?.identity_type === "api_key" ? undefined : owner;
  }

  /** With an API key, the owner of the key pays. The vendor mostly masks the key, and then the owner is unknown. */
  function ofConnector({ metadata }: OwnedResource): string | undefined {
    const mode = inventoryText(metadata, "kafka_auth_mode");
    if (mode === "SERVICE_ACCOUNT") return inventoryText(metadata, "kafka_service_account_id") ?? undefined;
    const key = mode === "KAFKA_API_KEY" ? inventoryText(metadata, "kafka_api_key") : null;
    if (key === null || MASKED.test(key)) return undefined;
    const identity = byId.get(key);
    return identity?.identity_type === "api_key" ? ofKey(identity) : undefined;
  }

  return {
    ofPrincipal,
    ofKey,
    ofResource(resource) {
      if (resource === undefined) return undefined;
      if (resource.resource_type === "connector") return ofConnector(resource);
      return principalId(resource.owner_id) ?? undefined;
    },
  };
}

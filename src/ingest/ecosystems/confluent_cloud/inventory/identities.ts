/** Gathers the identities of an organisation: service accounts, users, API keys, identity providers and their pools. */
import type { IdentityRecord } from "../../../ecosystem.js";
import { segment } from "./connectors.js";
import { inventoryText, timeAt } from "./fields.js";
import { forEach, type Listing, listIdentities } from "./listing.js";

export async function gatherServiceAccounts(listing: Listing): Promise<void> {
  await forEach(listing, "service accounts", ["iam/v2/service-accounts"], (path) =>
    listIdentities(listing, "service accounts", { path }, (item) =>
      identity(item, "service_account", inventoryText(item, "display_name"), {
        description: inventoryText(item, "description"),
      }),
    ),
  );
}

export async function gatherUsers(listing: Listing): Promise<void> {
  await forEach(listing, "users", ["iam/v2/users"], (path) =>
    listIdentities(listing, "users", { path }, (item) =>
      identity(item, "user", inventoryText(item, "full_name") ?? inventoryText(item, "email"), {}),
    ),
  );
}

/**
 * A key's resource may be absent, or a kind (`CLOUD`) or a region instead of a cluster. It is stored as it is: a key is
 * bound to a billed resource only if the ids are equal.
 */
export async function gatherApiKeys(listing: Listing): Promise<IdentityRecord[]> {
  const lists = await forEach(listing, "API keys", ["iam/v2/api-keys"], (path) =>
    listIdentities(listing, "API keys", { path }, (item) =>
      identity(
        item,
        "api_key",
        inventoryText(item, "spec", "description") ?? inventoryText(item, "spec", "display_name"),
        {
          owner_id: inventoryText(item, "spec", "owner", "id"),
          resource_id: inventoryText(item, "spec", "resource", "id"),
        },
      ),
    ),
  );
  return lists.flat();
}

/** Pools are listed for each provider, so without all providers the list of pools is incomplete. */
export async function gatherIdentityProviders(listing: Listing): Promise<void> {
  const { tally } = listing;
  const lists = await forEach(listing, "identity providers", ["iam/v2/identity-providers"], (path) =>
    listIdentities(listing, "identity providers", { path }, (item) =>
      identity(item, "identity_provider", inventoryText(item, "display_name"), {
        description: inventoryText(item, "description"),
      }),
    ),
  );
  if (lists.length === 0) tally.leaveOut("identity pools");
  await forEach(listing, "identity pools", lists.flat(), ({ identity_id: provider }) =>
    listIdentities(
      listing,
      "identity pools",
      { path: `iam/v2/identity-providers/${segment(provider)}/identity-pools` },
      (item) =>
        identity(item, "identity_pool", inventoryText(item, "display_name"), {
          provider_id: provider,
          description: inventoryText(item, "description"),
        }),
    ),
  );
}

function identity(
  item: unknown,
  type: string,
  name: string | null,
  metadata: Readonly<Record<string, unknown>>,
): IdentityRecord | undefined {
  const id = inventoryText(item, "id");
  if (id === null) return undefined;
  return {
    identity_id: id,
    identity_type: type,
    display_name: name,
    created_at: timeAt(item, "metadata", "created_at"),
    metadata: { ...metadata, crn: inventoryText(item, "metadata", "resource_name") },
  };
}

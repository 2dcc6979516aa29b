import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { runStatement } from "../../postgres/statement.js";
import type { TenantStore } from "../stores.js";
import { readKnownStore } from "./check-facts.js";
import type { StoreOwners } from "./store-owners.js";
import { readStoreState, writeStoreId } from "./store-state.js";

/** Another host uses a different store with this tenant's facts. */
class StoreInUseError extends Error {
  override readonly name = "StoreInUseError";
  constructor(tenantName: string, here: string, there: string) {
    super(
      `the facts of tenant ${tenantName} are in another store, which is in use: ${there}. This one (${here}) is left alone. ` +
        "Several hosts on one Postgres need one ClickHouse server for their facts; to move the tenant here, stop the other host",
    );
  }
}

/**
 * - `known`: the same store as in the last run
 * - `first`: Postgres has recorded no store yet, or this store had no id
 * - `replaced`: a different store than Postgres has recorded, or an empty one in its place
 */
export type StoreVerdict = "known" | "first" | "replaced";

export interface OwnedStore {
  readonly store: TenantStore;
  readonly postgres: Pool;
  readonly owners: StoreOwners;
}

/**
 * Identifies the store before anything in it changes. Returns its id, null if it has none. Throws `StoreInUseError`.
 */
export async function checkStoreIdentity({ store, postgres, owners }: OwnedStore): Promise<{
  readonly storeId: string | null;
  readonly verdict: StoreVerdict;
}> {
  const { client, tenantName, location } = store;
  const { storeId } = await readStoreState(client);
  const elsewhere = await owners.ownedElsewhere({ tenantName, storeId, location });
  if (elsewhere !== undefined) throw new StoreInUseError(tenantName, location.name, elsewhere);
  const known = await readKnownStore(postgres, tenantName);
  if (known === null) return { storeId, verdict: "first" };
  return { storeId, verdict: known === storeId ? "known" : "replaced" };
}

/**
 * Makes this store the tenant's: gives it an id, records it in Postgres, and resets what Postgres knows about the
 * previous one. The caller must own the tenant's lease.
 */
export async function takeOwnership(
  { store, postgres, owners }: OwnedStore,
  { storeId: currentId, verdict }: { readonly storeId: string | null; readonly verdict: StoreVerdict },
): Promise<void> {
  const { client, tenantName, location } = store;
  const storeId = currentId ?? randomUUID();
  if (currentId === null) await writeStoreId(client, storeId);
  await owners.register({ tenantName, storeId, location });
  if (verdict === "known") return;
  await runStatement(postgres, { query: OWN, params: [tenantName, storeId] });
}

/** Postgres's copy of the dimensions is read from the beginning again. The mirror of the tags checks its own id. */
const OWN = `
WITH noted AS (
  INSERT INTO fact_stores (tenant_name, store_id) VALUES ($1, $2)
  ON CONFLICT (tenant_name) DO UPDATE SET store_id = excluded.store_id, noted_at = now()
)
UPDATE tag_mirrors SET dimensions_up_to = NULL, oldest_day = NULL WHERE tenant_name = $1`;

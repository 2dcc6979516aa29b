/** The real stores with a registered tenant that this test holds the lease of. */
import type { Pool } from "pg";
import type { Test } from "tap";
import { claimStaging } from "../../src/clickhouse/staging.js";
import type { TenantStore } from "../../src/stores/stores.js";
import { openTestStores } from "../stores.js";

export const EPOCH = 7;

export interface GatheringStores {
  readonly postgres: Pool;
  readonly store: TenantStore;
}

export async function openGatheringStores(t: Test): Promise<GatheringStores> {
  const { stores } = await openTestStores(t);
  const { postgres } = stores;
  const store = await stores.tenant("acme");
  await postgres.query(
    "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
    [store.tenantName, store.tenantId, store.ecosystem],
  );
  await postgres.query(
    "INSERT INTO leases (tenant_name, holder, epoch, expires_at) VALUES ($1, 'test', $2, now())",
    [store.tenantName, EPOCH],
  );
  await claimStaging(store.client, EPOCH);
  return { postgres, store };
}

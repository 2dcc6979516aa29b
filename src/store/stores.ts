import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { StoreLocation, StoreOwners } from "./facts/store-owners.js";
import type { PublishLock } from "./publish-lock.js";

/**
 * The stores of a running service: one Postgres, and one ClickHouse database per tenant. A tenant's store is opened when it
 * is first asked for, migrated once, and kept; one tenant's broken store never concerns another.
 */
export interface Stores {
  readonly postgres: Pool;
  /** Throws when the tenant's store cannot be reached or migrated; the next call tries again. */
  tenant(tenantName: string): Promise<TenantStore>;
  close(): Promise<void>;
}

/** What runs need beside. */
export interface RunStores extends Stores {
  /** Which processes have which store open. */
  readonly holders: StoreOwners;
  /** What a run changes in both stores goes through it, so that a backup has both as they belong together. */
  readonly gate: PublishLock;
}

export interface TenantStore {
  readonly tenantName: string;
  readonly tenantId: string;
  readonly ecosystem: string;
  /** Client whose default database is the tenant's. */
  readonly client: ClickHouseClient;
  readonly database: string;
  readonly place: StoreLocation;
  /** Throws `MigrationRefused` when a newer version has migrated Postgres or this store since they were opened. */
  refuseNewerSchema(): Promise<void>;
}

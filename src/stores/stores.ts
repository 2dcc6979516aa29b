import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { BackupLock } from "./backup-lock.js";
import type { StoreLocation, StoreOwners } from "./facts/store-owners.js";

/**
 * The stores of a running service: one Postgres, and one ClickHouse database per tenant. A tenant's store is opened and
 * migrated at its first use, and stays open. A tenant's broken store does not affect other tenants.
 */
export interface Stores {
  readonly postgres: Pool;
  /** Throws when the tenant's store cannot be reached or migrated; the next call tries again. */
  tenant(tenantName: string): Promise<TenantStore>;
  close(): Promise<void>;
}

/** Stores, plus what pipeline runs need. */
export interface RunStores extends Stores {
  /** The processes that have each store open. */
  readonly owners: StoreOwners;
  /** Guards changes that a run makes in both stores, so that a backup of both is consistent. */
  readonly backupLock: BackupLock;
}

export interface TenantStore {
  readonly tenantName: string;
  readonly tenantId: string;
  readonly ecosystem: string;
  /** Client whose default database is the tenant's. */
  readonly client: ClickHouseClient;
  readonly database: string;
  /** Address of the store, as logs and errors show it. */
  readonly location: StoreLocation;
  /** Throws `MigrationRefused` if a newer version has migrated Postgres or this store since they were opened. */
  refuseNewerSchema(): Promise<void>;
}

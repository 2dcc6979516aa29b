import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";

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

export interface TenantStore {
  readonly tenantName: string;
  readonly tenantId: string;
  readonly ecosystem: string;
  /** Client whose default database is the tenant's. */
  readonly client: ClickHouseClient;
  readonly database: string;
}

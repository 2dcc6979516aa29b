/** The configuration as the rest of the service uses it: checked, with defaults, addresses taken apart. */
import { resolve } from "node:path";
import { type PostgresTarget, postgresTarget } from "./postgres.js";
import type { WrittenConfig } from "./schema.js";
import { parseStorage, type StorageTarget } from "./storage.js";
import type { WrittenTenant } from "./tenant.js";

export interface TenantConfig extends Omit<WrittenTenant, "storage"> {
  tenant_name: string;
  storage: StorageTarget;
}

export interface Config extends Omit<WrittenConfig, "postgres" | "tenants"> {
  /** Absolute. */
  data_dir: string;
  postgres: PostgresTarget;
  /** In the order of the file. A map, because names come from URLs, where `constructor` is a name like any other. */
  tenants: ReadonlyMap<string, TenantConfig>;
}

function tenantConfig(tenant_name: string, tenant: WrittenTenant): TenantConfig {
  const parsed = parseStorage(tenant.storage.connection_string);
  if ("problem" in parsed) throw new Error("a storage connection string that was not checked");
  return { ...tenant, tenant_name, storage: parsed.storage };
}

/** From the checked content of the file; `folder` is what a relative `data_dir` is relative to. */
export function toConfig(written: WrittenConfig, folder: string): Config {
  const tenants = Object.entries(written.tenants);
  return {
    ...written,
    data_dir: resolve(folder, written.data_dir),
    postgres: postgresTarget(written.postgres.connection_string),
    tenants: new Map(tenants.map(([name, tenant]) => [name, tenantConfig(name, tenant)])),
  };
}

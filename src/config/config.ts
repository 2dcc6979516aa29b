/** The configuration as the rest of the service uses it: checked, with defaults, addresses taken apart. */
import { resolve } from "node:path";
import type { IdentityMaps } from "./allocation/check-allocation.js";
import type { LineColumns } from "./allocation/line-columns.js";
import { type PostgresTarget, postgresTarget } from "./postgres.js";
import type { WrittenConfig } from "./schema.js";
import { parseStorage, type StorageTarget } from "./storage.js";
import type { WrittenTenant } from "./tenant.js";

export interface TenantConfig extends Omit<WrittenTenant, "storage"> {
  tenant_name: string;
  storage: StorageTarget;
  /** The maps of `allocation.identity`, by their paths. */
  identity_maps: IdentityMaps;
  /** What rules and identity sources can name of the ecosystem's lines. */
  line_columns: LineColumns;
}

/** What is worked out of a tenant's settings while they are checked. */
export type Derived = Pick<TenantConfig, "identity_maps" | "line_columns">;

export interface Config extends Omit<WrittenConfig, "postgres" | "tenants"> {
  /** Absolute. */
  data_dir: string;
  postgres: PostgresTarget;
  /** In the order of the file. A map, because names come from URLs, where `constructor` is a name like any other. */
  tenants: ReadonlyMap<string, TenantConfig>;
}

function storageTarget(written: WrittenTenant["storage"], common: string | undefined): StorageTarget {
  const parsed = parseStorage(written.connection_string);
  if ("problem" in parsed) throw new Error("a storage connection string that was not checked");
  const { storage } = parsed;
  return storage.kind === "embedded" ? storage : { ...storage, cluster: written.cluster ?? common };
}

/** From the checked content of the file; `folder` is what a relative `data_dir` is relative to, `derived` is by the names of tenants. */
export function toConfig(
  written: WrittenConfig,
  folder: string,
  derived: ReadonlyMap<string, Derived>,
): Config {
  const tenants = Object.entries(written.tenants);
  return {
    ...written,
    data_dir: resolve(folder, written.data_dir),
    postgres: postgresTarget(written.postgres.connection_string),
    tenants: new Map(
      tenants.map(([name, tenant]) => {
        const ofTenant = derived.get(name);
        if (ofTenant === undefined) throw new Error(`a tenant that was not checked: ${name}`);
        const storage = storageTarget(tenant.storage, written.clickhouse.cluster);
        return [name, { ...tenant, tenant_name: name, storage, ...ofTenant }];
      }),
    ),
  };
}

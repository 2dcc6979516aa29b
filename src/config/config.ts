/** The configuration as the service uses it: validated, with defaults, and with parsed addresses. */
import { resolve } from "node:path";
import type { RuleColumns } from "../domain/rule-columns.js";
import type { IdentityMaps } from "./allocation/identity-map.js";
import type { WrittenConfig } from "./schema.js";
import type { EcosystemSettingsMap } from "./settings/ecosystem-settings.js";
import { type PostgresTarget, postgresTarget } from "./settings/postgres.js";
import { parseStorage, type StorageTarget } from "./settings/storage.js";
import type { WrittenTenant } from "./settings/tenant.js";

export interface TenantConfig extends Omit<WrittenTenant, "storage"> {
  tenant_name: string;
  storage: StorageTarget;
  /** Maps that the tenant names, by path. */
  identity_maps: IdentityMaps;
  /** Columns of the ecosystem's lines that rules and identity sources can name. */
  line_columns: RuleColumns;
}

/** Parts of a tenant that validation derives from its settings. */
export type Derived = Pick<TenantConfig, "identity_maps" | "line_columns">;

export interface Config extends Omit<WrittenConfig, "postgres" | "tenants"> {
  /** An absolute path. */
  data_dir: string;
  postgres: PostgresTarget;
  /** In the order of the file. A `Map`, because names come from URLs, where `constructor` is a valid name. */
  tenants: ReadonlyMap<string, TenantConfig>;
}

function storageTarget(written: WrittenTenant["storage"], common: string | undefined): StorageTarget {
  const parsed = parseStorage(written.connection_string);
  if ("problem" in parsed) throw new Error("bug: the storage connection string was not validated");
  const { storage } = parsed;
  return storage.kind === "embedded" ? storage : { ...storage, cluster: written.cluster ?? common };
}

/**
 * Builds the configuration from the validated content of the file. A relative `data_dir` is relative to `folder`;
 * `derived` is by tenant name.
 */
export function toConfig(
  written: WrittenConfig,
  folder: string,
  derived: ReadonlyMap<string, Derived>,
  ecosystems: EcosystemSettingsMap,
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
        const { plugin_settings: plugin } = tenant;
        const plugin_settings = ecosystems.get(tenant.ecosystem)?.withoutPresets?.(plugin) ?? plugin;
        return [name, { ...tenant, plugin_settings, tenant_name: name, storage, ...ofTenant }];
      }),
    ),
  };
}

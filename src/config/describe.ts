/**
 * The effective configuration as `check-config` prints it: in the shape of the file, with defaults, and with masked
 * secrets.
 */
import type { TSchema } from "@sinclair/typebox";
import type { Config } from "./config.js";
import { entriesOf, isRecord, itemDefinition } from "./reader/parts.js";
import { notesOf } from "./reader/setting.js";
import { configSchema } from "./schema.js";
import type { EcosystemSettingsMap } from "./settings/ecosystem-settings.js";
import { describePostgres } from "./settings/postgres.js";
import { describeStorage, type StorageTarget } from "./settings/storage.js";

/** The cluster is shown with each tenant, even if all tenants share it. */
function describedStorage(storage: StorageTarget): Record<string, string> {
  const cluster = storage.kind === "server" ? storage.cluster : undefined;
  return { connection_string: describeStorage(storage), ...(cluster !== undefined && { cluster }) };
}

const MASK = "********";

function masked(schema: TSchema | undefined, value: unknown): unknown {
  if (schema === undefined || notesOf(schema).secret) return MASK;
  if (Array.isArray(value)) return value.map((item) => masked(itemDefinition(schema), item));
  if (!isRecord(value)) return value;
  const parts = entriesOf(schema, value);
  return Object.fromEntries(parts.map((each) => [each.key, masked(each.definition, each.part)]));
}

/** Plain data for YAML or JSON. Values without a schema are masked, too. */
export function describeConfig(config: Config, ecosystems: EcosystemSettingsMap): Record<string, unknown> {
  const { properties } = configSchema(ecosystems);
  const tenantSchema = Object.values(properties.tenants.patternProperties)[0];
  const { postgres, tenants, ...rest } = config;
  const sections = Object.entries(rest).map(([key, value]) => [
    key,
    masked(Reflect.get(properties, key), value),
  ]);
  const described = [...tenants].map(
    ([name, { tenant_name: _, identity_maps: __, line_columns: ___, storage, ...tenant }]) => {
      const plain = masked(tenantSchema, tenant);
      return [name, { ...(isRecord(plain) ? plain : {}), storage: describedStorage(storage) }];
    },
  );
  return {
    ...Object.fromEntries(sections),
    postgres: { connection_string: describePostgres(postgres) },
    tenants: Object.fromEntries(described),
  };
}

/** The configuration in force, as `check-config` prints it: in the shape of the file, defaults filled in, secrets masked. */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import type { Config } from "./config.js";
import type { EcosystemSettingsMap } from "./ecosystem-settings.js";
import { describePostgres } from "./postgres.js";
import { configSchema } from "./schema.js";
import { notesOf } from "./setting.js";
import { describeStorage } from "./storage.js";

const MASK = "********";

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The form of a mapping that `value` has. */
function formOf(schema: TSchema, value: Record<string, unknown>): TSchema {
  const key = notesOf(schema).discriminator?.key;
  if (key === undefined || !KindGuard.IsUnion(schema)) return schema;
  const forms = schema.anyOf.filter(KindGuard.IsObject);
  return forms.find((form) => form.properties[key]?.const === value[key]) ?? schema;
}

function masked(schema: TSchema | undefined, value: unknown): unknown {
  if (schema === undefined || notesOf(schema).secret) return MASK;
  if (Array.isArray(value))
    return value.map((item) => masked(KindGuard.IsArray(schema) ? schema.items : undefined, item));
  if (!isRecord(value)) return value;
  const form = formOf(schema, value);
  const schemaOf = (key: string): TSchema | undefined => {
    if (KindGuard.IsObject(form)) return form.properties[key];
    return KindGuard.IsRecord(form) ? Object.values(form.patternProperties)[0] : undefined;
  };
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, masked(schemaOf(key), part)]));
}

/** Plain data, ready for YAML or JSON. What the schema does not know is masked too. */
export function describeConfig(config: Config, ecosystems: EcosystemSettingsMap): Record<string, unknown> {
  const { properties } = configSchema(ecosystems);
  const tenantSchema = Object.values(properties.tenants.patternProperties)[0];
  const { postgres, tenants, ...rest } = config;
  const sections = Object.entries(rest).map(([key, value]) => [
    key,
    masked(Reflect.get(properties, key), value),
  ]);
  const described = [...tenants].map(([name, { tenant_name: _, storage, ...tenant }]) => {
    const plain = masked(tenantSchema, tenant);
    return [
      name,
      { ...(isRecord(plain) ? plain : {}), storage: { connection_string: describeStorage(storage) } },
    ];
  });
  return {
    ...Object.fromEntries(sections),
    postgres: { connection_string: describePostgres(postgres) },
    tenants: Object.fromEntries(described),
  };
}

/** The schema of the whole configuration file: its sections, and the rules that span several of them. */
import type { Static } from "@sinclair/typebox";
import { mapOf, mapping, type Rule, text } from "./reader/setting.js";
import { apiSettings } from "./settings/api.js";
import { clickhouseSettings } from "./settings/clickhouse.js";
import type { EcosystemSettingsMap } from "./settings/ecosystem-settings.js";
import { embeddedSettings } from "./settings/embedded.js";
import { emittedDatasetsRule, emittedFilesRule, emittedMonthsRule } from "./settings/emitted-files-rule.js";
import { featuresSettings } from "./settings/features.js";
import { loggingSettings } from "./settings/logging.js";
import { postgresSettings } from "./settings/postgres.js";
import { parseStorage, storageKeys } from "./settings/storage.js";
import { TENANT_NAME, tenantSettings, type WrittenTenant } from "./settings/tenant.js";

/** Keys of tenants that could not be read are missing. */
type Tenants = Record<string, Partial<WrittenTenant>>;

/** Returns each tenant that repeats a value of an earlier one, together with the first tenant that has it. */
function repeated(tenants: Tenants, identify: (tenant: Partial<WrittenTenant>) => readonly string[]) {
  const first = new Map<string, string>();
  return Object.entries(tenants).flatMap(([name, tenant]) => {
    const values = identify(tenant);
    const earlier = values.map((value) => first.get(value)).find((each) => each !== undefined);
    for (const value of values) if (!first.has(value)) first.set(value, name);
    return earlier === undefined ? [] : [{ name, earlier }];
  });
}

function storesOf({ storage }: Partial<WrittenTenant>): string[] {
  const parsed = parseStorage(storage?.connection_string ?? "");
  return "storage" in parsed ? storageKeys(parsed.storage) : [];
}

const tenantsRules: Rule<{ tenants: Tenants }>[] = [
  {
    rule: "No two tenants share one store, however its connection string is spelled.",
    check({ tenants = {} }, report) {
      for (const { name, earlier } of repeated(tenants, storesOf)) {
        const path = ["tenants", name, "storage", "connection_string"];
        report(path, `tenants ${earlier} and ${name} share one store; each tenant needs its own`);
      }
    },
  },
  {
    rule: "No two tenants have the same `tenant_id`.",
    check({ tenants = {} }, report) {
      for (const { name, earlier } of repeated(tenants, ({ tenant_id }) =>
        tenant_id === undefined ? [] : [tenant_id],
      )) {
        report(
          ["tenants", name, "tenant_id"],
          `tenants ${earlier} and ${name} have the same tenant_id; it must be unique`,
        );
      }
    },
  },
];

const hostsRule: Rule<{ clickhouse: { cluster?: string }; tenants: Tenants }> = {
  rule: "Several hosts in a connection string are the replicas of a cluster.",
  check({ clickhouse, tenants = {} }, report) {
    if (clickhouse?.cluster !== undefined) return;
    for (const [name, tenant] of Object.entries(tenants)) {
      if (tenant.storage?.cluster !== undefined || storesOf(tenant).length < 2) continue;
      const path = ["tenants", name, "storage", "connection_string"];
      report(path, "names several hosts: only the replicas of clickhouse.cluster have the same rows");
    }
  },
};

const portRule: Rule<{ api: { port?: number }; embedded: { sql_port?: number } }> = {
  rule: "`api.port` and `embedded.sql_port` differ.",
  check({ api, embedded }, report) {
    if (embedded?.sql_port === undefined || embedded.sql_port !== api?.port) return;
    report(["embedded", "sql_port"], "must differ from api.port");
  },
};

const sqlUsersRule: Rule<{
  embedded: { sql_users?: Record<string, { tenants?: string[] }> };
  tenants: Record<string, { storage?: { connection_string?: string } }>;
}> = {
  rule: "`embedded.sql_users` name tenants of this file, and embedded ones.",
  check({ embedded, tenants }, report) {
    if (tenants === undefined) return;
    for (const [user, { tenants: names = [] }] of Object.entries(embedded?.sql_users ?? {})) {
      for (const [index, name] of names.entries()) {
        const path = ["embedded", "sql_users", user, "tenants", index];
        const tenant = Object.hasOwn(tenants, name) ? tenants[name] : undefined;
        const parsed = parseStorage(tenant?.storage?.connection_string ?? "");
        if (tenant === undefined) report(path, `there is no tenant ${name}`);
        else if ("storage" in parsed && parsed.storage.kind !== "embedded")
          report(path, `the store of tenant ${name} is not embedded: give its server's users rights there`);
      }
    }
  },
};

export function configSchema(ecosystems: EcosystemSettingsMap) {
  return mapping(
    {
      data_dir: text({
        description:
          "The folder of the embedded engines' files. Relative to the folder in which the service is started.",
        expected: "a path",
        maxLength: 4096,
        default: "./data",
      }),
      logging: loggingSettings,
      features: featuresSettings,
      api: apiSettings,
      postgres: postgresSettings,
      clickhouse: clickhouseSettings,
      embedded: embeddedSettings,
      tenants: mapOf(TENANT_NAME, tenantSettings(ecosystems), {
        description: "The tenants, by name. The name is part of the API's paths.",
        maxProperties: 1000,
        default: {},
      }),
    },
    {
      description: "The configuration of chargehouse.",
      rules: [
        ...tenantsRules,
        hostsRule,
        emittedFilesRule,
        emittedDatasetsRule,
        emittedMonthsRule,
        portRule,
        sqlUsersRule,
      ],
    },
  );
}

export type WrittenConfig = Static<ReturnType<typeof configSchema>>;

/** A configured `confluent_cloud` tenant that queries a test server with short waits. */
import type { Test } from "tap";
import { loadConfig } from "../../../src/config/load.js";
import { formatProblems } from "../../../src/config/reader/problem.js";
import type { PluginSettings } from "../../../src/config/settings/plugin-settings.js";
import type { GatherContext, Gatherer } from "../../../src/ingest/ecosystem.js";
import type { Tuning } from "../../../src/ingest/ecosystems/confluent_cloud/api/connection.js";
import { connectGatherer } from "../../../src/ingest/ecosystems/confluent_cloud/index.js";
import { confluentCloudSettings } from "../../../src/ingest/ecosystems/confluent_cloud/settings.js";
import { silent } from "../generic_metrics_only/tenant.js";

const ecosystems = new Map([["confluent_cloud", confluentCloudSettings]]);

/** Waits of milliseconds instead of seconds. */
export const quick: Tuning = {
  pace: { concurrency: 8, minIntervalMs: 0 },
  retry: { attempts: 3, baseDelayMs: 5, maxDelayMs: 100, minRequestedWaitMs: 0 },
  attemptTimeoutMs: 20_000,
};

export const context: GatherContext = {
  tenantName: "acme",
  tenantId: "acme-id",
  logger: silent,
  known: async () => ({ resources: [], identities: [] }),
};

/** Parses JSON in the same way as the service's configuration file, because YAML includes JSON. */
export function confluentSettings(url: string, more: Readonly<Record<string, unknown>> = {}): PluginSettings {
  const tenant = {
    ecosystem: "confluent_cloud",
    tenant_id: "acme-id",
    storage: { connection_string: "embedded:acme" },
    plugin_settings: { ccloud_api: { key: "CLOUDKEY", secret: "s3cret-word", base_url: url }, ...more },
  };
  const loaded = loadConfig(JSON.stringify({ tenants: { acme: tenant } }), {
    file: "test.yaml",
    env: {},
    ecosystems,
    folder: "/srv",
  });
  const settings = loaded.ok ? loaded.config.tenants.get("acme")?.plugin_settings : undefined;
  if (settings === undefined) throw new Error(loaded.ok ? "no tenant" : formatProblems(loaded.problems));
  return settings;
}

export interface ConfluentTestTenant {
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The current day. */
  readonly today?: string;
  readonly tuning?: Tuning;
  readonly context?: Partial<GatherContext>;
}

/** Closed at the end of the test. */
export function connectConfluentTenant(t: Test, url: string, tenant: ConfluentTestTenant = {}): Gatherer {
  const gatherer = connectGatherer(
    confluentSettings(url, tenant.settings),
    { ...context, ...tenant.context },
    {
      ...quick,
      ...tenant.tuning,
      now: () => new Date(`${tenant.today ?? "2026-04-01"}T12:00:00Z`),
    },
  );
  t.teardown(() => gatherer.close());
  return gatherer;
}

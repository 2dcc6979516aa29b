/**
 * Starts a service on real engines for one test file, with two tenants, a fixed clock, and rows that the test inserts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import pino, { type Logger } from "pino";
import type { Test } from "tap";
import type { Config } from "../../src/config/config.js";
import { loadConfig } from "../../src/config/load.js";
import type { OtherCost } from "../../src/domain/other-costs.js";
import { type AppOptions, buildApp } from "../../src/http/app.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { type OpenedStores, openStores } from "../../src/stores/open-stores.js";
import { type TenantText, tenantText } from "../config/loading.js";
import { copyMigratedClickHouse } from "../migrated-clickhouse.js";
import { copyMigratedPostgres } from "../migrated-postgres.js";
import { sumUp } from "../sum-up.js";
import { holdContract } from "./contract.js";

export const NOW = new Date("2026-03-10T12:00:00Z");

export interface Service {
  readonly app: FastifyInstance;
  readonly stores: OpenedStores;
  readonly config: Config;
  readonly logger: Logger;
  /** The parsed log lines so far. */
  readonly log: Record<string, unknown>[];
  /** Faults of responses against the documented contract so far. The test ends with none. */
  faults(): readonly string[];
  /** Starts another app on the same stores. */
  build(options?: Partial<AppOptions>): Promise<FastifyInstance>;
}

/**
 * Configures the tenants `acme` and `globex` with a lookback of 30 days. `api` adds lines to that section, `more` adds
 * lines to the tenants, and `others` are further tenants.
 */
export async function startService(
  t: Test,
  api: readonly string[] = [],
  more: TenantText = {},
  others: readonly string[] = [],
): Promise<Service> {
  const faults: (readonly string[])[] = [];
  // Teardowns run in reverse order, so this one runs last.
  t.teardown(() => {
    if (faults.flat().length > 0)
      throw new Error(`responses break the contract:\n${faults.flat().join("\n")}`);
  });
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-http-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const tenants = ["acme", "globex"].map((name) =>
    tenantText(name, { ...more, tenant: ["lookback_days: 30", ...(more.tenant ?? [])] }),
  );
  const text = [
    "api:",
    "  port: 1",
    ...api.map((line) => `  ${line}`),
    "tenants:",
    ...tenants,
    ...others,
  ].join("\n");
  const loaded = loadConfig(text, { file: "c.yaml", env: {}, ecosystems, folder });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { config } = loaded;
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line)) });
  copyMigratedPostgres(config.data_dir);
  copyMigratedClickHouse(config);
  const stores = await openStores({ config, logger: pino({ level: "silent" }) });
  t.teardown(() => stores.close());
  const apps: FastifyInstance[] = [];
  t.teardown(() => Promise.all(apps.map((app) => app.close())));
  const build = async (options: Partial<AppOptions> = {}) => {
    const base = {
      config,
      stores,
      control: undefined,
      logger,
      version: "1.2.3",
      mode: "both" as const,
      clock: () => NOW,
    };
    const app = await buildApp({ ...base, ...options });
    faults.push(holdContract(app));
    apps.push(app);
    return app;
  };
  return { app: await build(), stores, config, logger, log, build, faults: () => faults.flat() };
}

/** Columns of a chargeback row that a test does not set do not matter. */
export interface ChargebackInput {
  timestamp: string;
  amount: string;
  currency?: string;
  resource_id?: string;
  identity_id?: string;
  product_type?: string;
  product_category?: string;
  env_id?: string;
  cost_type?: "usage" | "shared";
  allocation_method?: string;
  allocation_detail?: string;
  component?: number;
  metric?: string;
  tenant_id?: string;
  charge_category?: string;
  service_provider?: string;
  account_id?: string;
  region_id?: string;
  sku_id?: string;
  line_tags?: Readonly<Record<string, string>>;
  rule?: string;
  provisional?: boolean;
  rules_hash?: string;
  ecosystem?: string;
}

/** Inserts many rows of one cent with one statement, on the first days of March 2026, for so many identities. */
export async function insertManyChargebacks(
  stores: OpenedStores,
  tenant: string,
  { rows, days, identities }: Readonly<Record<"rows" | "days" | "identities", number>>,
): Promise<void> {
  const { client } = await stores.tenant(tenant);
  await client.command({
    query: `INSERT INTO chargebacks (timestamp, ecosystem, tenant_id, resource_id, product_category, product_type, identity_id, cost_type,
        allocation_method, allocation_detail, component_ratio, amount_hi)
      SELECT toDateTime('2026-03-01 00:00:00', 'UTC') + INTERVAL number % {days:UInt8} DAY, 'e', {tenant:String}, concat('r-', toString(number % 100)), 'c',
        'p', concat('sa-', toString(number % {identities:UInt32})), 'usage', 'usage_ratio', 'usage_ratio_allocation', '1', 0.01 FROM numbers({rows:UInt32})`,
    query_params: { tenant, rows, days, identities },
  });
  await sumUp(client);
}

export async function insertChargebacks(
  stores: OpenedStores,
  tenant: string,
  rows: readonly (ChargebackInput & Partial<Record<OtherCost, string>>)[],
): Promise<void> {
  const { client, tenantId, ecosystem } = await stores.tenant(tenant);
  await client.insert({
    table: "chargebacks",
    format: "JSONEachRow",
    values: rows.map(({ amount, ...row }) => ({
      ecosystem,
      tenant_id: tenantId,
      env_id: "",
      resource_id: "r-1",
      product_category: "KAFKA",
      product_type: "STORAGE",
      identity_id: "sa-1",
      cost_type: "usage",
      allocation_method: "usage_ratio",
      allocation_detail: "usage_ratio_allocation",
      component: 0,
      component_ratio: "1",
      tier: 0,
      metric: "",
      amount_hi: "0",
      amount_lo: amount,
      ...row,
    })),
  });
  await sumUp(client);
}

export interface BillingInput {
  timestamp: string;
  total_cost: string;
  resource_id?: string;
  product_type?: string;
  metadata?: string;
  quantity?: string;
  currency?: string;
  env_id?: string;
  unit_price?: string;
  ecosystem?: string;
  account_id?: string;
  line_id?: string;
  line_tags?: Readonly<Record<string, string>>;
  rule?: string;
  named_identity?: string;
  product_category?: string;
  charge_category?: string;
  service_provider?: string;
  region_id?: string;
  sku_id?: string;
}

export async function insertBilling(
  stores: OpenedStores,
  tenant: string,
  rows: readonly BillingInput[],
): Promise<void> {
  const { client, tenantId, ecosystem } = await stores.tenant(tenant);
  await client.insert({
    table: "billing",
    format: "JSONEachRow",
    values: rows.map((row) => ({
      ecosystem,
      tenant_id: tenantId,
      env_id: "",
      resource_id: "r-1",
      product_category: "KAFKA",
      product_type: "STORAGE",
      quantity: "1",
      unit_price: "1",
      currency: "USD",
      granularity: "daily",
      metadata: "{}",
      ...row,
    })),
  });
}

/** Tests read responses field by field, and state what they expect. */
export async function get(app: FastifyInstance, url: string, headers: Record<string, string> = {}) {
  const response = await app.inject({ method: "GET", url, headers });
  return {
    status: response.statusCode,
    headers: response.headers,
    body: response.body === "" ? undefined : response.json(),
  };
}

interface TopicAttribution {
  timestamp: string;
  amount: string;
  topic_name?: string;
  cluster_resource_id?: string;
  product_type?: string;
  attribution_method?: string;
  env_id?: string;
}

export async function insertTopicAttributions(
  stores: OpenedStores,
  rows: readonly TopicAttribution[],
): Promise<void> {
  const { client, tenantId, ecosystem } = await stores.tenant("acme");
  await client.insert({
    table: "topic_attributions",
    format: "JSONEachRow",
    values: rows.map(({ amount, ...row }) => ({
      ecosystem,
      tenant_id: tenantId,
      env_id: "env-1",
      cluster_resource_id: "lkc-1",
      product_category: "KAFKA",
      product_type: "KAFKA_NETWORK_WRITE",
      topic_name: "orders",
      attribution_method: "bytes_ratio",
      attribution_detail: "usage_ratio_allocation",
      metric: "topic_bytes_in",
      amount_hi: "0",
      amount_lo: amount,
      ...row,
    })),
  });
}

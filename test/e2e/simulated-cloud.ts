/**
 * A complete service with simulated upstreams: one tenant of each ecosystem, real stores, and the simulator's own bill
 * to compare the results with. Amounts are in trillionths of a dollar.
 */
import type { Test } from "tap";
import { tenantsSection } from "../../src/cli/simulation.js";
import { addDays } from "../../src/common/days.js";
import type { Config } from "../../src/config/config.js";
import { factTables } from "../../src/domain/fact-tables.js";
import type { AnyEcosystem } from "../../src/ingest/ecosystem.js";
import { confluentCloud, connectGatherer } from "../../src/ingest/ecosystems/confluent_cloud/index.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { type ConfluentCloud, startConfluentCloud } from "../../src/simulator/confluent/cloud.js";
import { confluentTenant } from "../../src/simulator/confluent/tenant.js";
import { selfManagedTenant, simulatedTenants } from "../../src/simulator/tenants.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import { quick } from "../ingest/confluent_cloud/tenant.js";
import { recordingObserver, runContext, runDay, runOnce, runRows } from "../runner/runs.js";
import { openTestStores } from "../stores.js";

/** Days of history. A cutoff of one day leaves out yesterday. */
const DAYS = 7;

const now = () => new Date(`${runDay}T12:00:00Z`);

/** Short retry delays, and a fixed current day, because the vendor has no bills of more than a year ago. */
const impatient: AnyEcosystem = {
  ...confluentCloud,
  connect: (settings, context) => connectGatherer(settings, context, { ...quick, now }),
};

export interface SimulatedService {
  readonly cloud: ConfluentCloud;
  readonly stores: OpenedStores;
  readonly config: Config;
  /** Names of the tenants: Confluent Cloud, a self-managed cluster, a metered system. */
  readonly tenants: readonly [cloud: string, selfManaged: string, metered: string];
  /** Runs a tenant once. Returns the outcome with the published days. */
  run(tenantName?: string): Promise<SimulatedRun>;
}

export interface SimulatedRun {
  readonly status: string;
  readonly errors: readonly string[];
  readonly published: readonly string[];
}

export interface SimulatedCloudOptions {
  /** Replaces the URL of an upstream, such as by that of a proxy. */
  readonly through?: (url: string, upstream: "bill" | "metrics") => Promise<string>;
  /** More settings of each tenant. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export async function startSimulatedService(
  t: Test,
  { through = async (url) => url, settings = {} }: SimulatedCloudOptions = {},
): Promise<SimulatedService> {
  const size = { size: "tiny", tenants: 2, days: DAYS, now: () => now().getTime() } as const;
  const cloud = await startConfluentCloud(size);
  t.teardown(() => cloud.close());
  const reached = {
    ...cloud,
    url: await through(cloud.url, "bill"),
    metrics: { ...cloud.metrics, url: await through(cloud.metrics.url, "metrics") },
  };
  const metered = { ...size, url: reached.metrics.url };
  const [system] = simulatedTenants(metered);
  if (system === undefined) throw new Error("the simulator has no metered system");
  const tenants = [queriedByParts(confluentTenant(reached)), selfManagedTenant(metered), system] as const;
  const section = tenantsSection(tenants.map((tenant) => ({ ...tenant, ...settings })));
  const { config, stores } = await openTestStores(t, `tenants: ${JSON.stringify(section)}`);
  const { observer, events } = recordingObserver();
  const context = runContext(stores, {
    now,
    ecosystems: new Map([...ecosystems, [impatient.name, impatient]]),
    observer: { ...runContext(stores).observer, ...observer },
  });
  const [{ tenant_name: name }] = tenants;
  return {
    cloud,
    stores,
    config,
    tenants: [name, tenants[1].tenant_name, tenants[2].tenant_name],
    async run(tenantName = name) {
      const before = events.length;
      const { status, errors } = await runOnce(context, config, tenantName);
      const own = events.slice(before).filter((event) => event.startsWith(`${tenantName} published `));
      const published = own.map((event) => event.slice(-10)).sort();
      return { status, errors: errors.map(({ message }) => message), published };
    },
  };
}

/** Makes the connector query the bill several times, even in a short history. */
function queriedByParts(tenant: ReturnType<typeof confluentTenant>): ReturnType<typeof confluentTenant> {
  return {
    ...tenant,
    plugin_settings: { ...tenant.plugin_settings, billing_api: { days_per_query: 4 } },
  };
}

/** Days of the window, ascending. */
export const days: readonly string[] = Array.from({ length: DAYS - 1 }, (_, index) =>
  addDays(runDay, index - DAYS),
);

/** The vendor's current charges by day and resource (or `no resource`). */
export function truth(
  { bill }: ConfluentCloud,
  isCounted = (_lineType: string) => true,
): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const row of days.flatMap((day) => bill.rows(day))) {
    const { resource, lineType } = row.charge;
    const key = `${row.day} ${resource?.id ?? "no resource"}`;
    if (isCounted(lineType)) sums.set(key, (sums.get(key) ?? 0n) + row.amount);
  }
  return sums;
}

/** The amounts of a table by the same keys. Malformed rows have keys of their own, which `truth` does not have. */
export async function charged(
  stores: OpenedStores,
  tenantName: string,
  table: "billing" | "chargebacks" | "topic_attributions",
  where = "1",
): Promise<Map<string, bigint>> {
  const money = table === "billing" ? "total_cost" : "amount";
  const resource = table === "topic_attributions" ? "cluster_resource_id" : "resource_id";
  const rows = await runRows<{ key: string; amount: string }>(
    stores,
    tenantName,
    `SELECT concat(toString(day), ' ', if(${resource} LIKE 'no_resource:%', 'no resource', ${resource})) AS key,
            toString(sum(toInt256(toDecimal256(${money}, 12) * 1000000000000))) AS amount
     FROM ${table} WHERE ${where} GROUP BY key`,
  );
  return new Map(rows.map(({ key, amount }) => [key, BigInt(amount)]));
}

/**
 * Everything that a refresh could change: the parts of all fact tables with their modification times, and the state of
 * all days. Keys are `table day` for parts and `state day` for records.
 */
export async function fingerprint(stores: OpenedStores, tenantName: string): Promise<Map<string, string>> {
  const parts = await runRows<{ key: string; parts: string }>(
    stores,
    tenantName,
    `SELECT concat(table, ' ', partition) AS key,
            toString(arraySort(groupArray((name, modification_time, rows)))) AS parts
     FROM system.parts
     WHERE database = currentDatabase() AND active AND table IN (${factTables.map((table) => `'${table}'`)})
     GROUP BY key`,
  );
  const found = new Map(parts.map(({ key, parts: text }) => [key, text]));
  for (const state of ["tracking_dates", "topic_attribution_dates"]) {
    const { rows } = await stores.postgres.query<{ day: string; record: string }>(
      `SELECT to_char(tracking_date, 'YYYY-MM-DD') AS day, to_jsonb(s)::text AS record FROM ${state} AS s
       WHERE tenant_name = $1`,
      [tenantName],
    );
    for (const { day, record } of rows) found.set(`${state} ${day}`, record);
  }
  return found;
}

/** UUIDs of the staging tables. A table that rows were staged into is recreated, so its UUID changes. */
export async function stagingTables(stores: OpenedStores, tenantName: string): Promise<string[]> {
  const tables = await runRows<{ uuid: string }>(
    stores,
    tenantName,
    `SELECT toString(uuid) AS uuid FROM system.tables
     WHERE database = currentDatabase() AND startsWith(name, 'staged_') ORDER BY uuid`,
  );
  return tables.map(({ uuid }) => uuid);
}

/** Merges all parts, so that no background merge changes them later. */
export async function settleParts(stores: OpenedStores, tenantName: string): Promise<void> {
  const { client } = await stores.tenant(tenantName);
  const clickhouse_settings = { optimize_skip_merged_partitions: 1 } as const;
  for (const table of factTables)
    await client.command({ query: `OPTIMIZE TABLE ${table} FINAL`, clickhouse_settings });
}

/** Days whose entries differ, in ascending order. */
export function changedDays(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  const changed = keys.filter((key) => before.get(key) !== after.get(key));
  return [...new Set(changed.map((key) => key.slice(-10)))].sort();
}

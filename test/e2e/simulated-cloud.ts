/**
 * A whole service on simulated upstreams: one tenant of each ecosystem, the real stores, and the simulator's own bill as the
 * truth to hold them against. Amounts are counted in trillionths of a dollar.
 */
import type { Test } from "tap";
import { tenantsSection } from "../../src/cli/simulation.js";
import type { Config } from "../../src/config/config.js";
import type { AnyEcosystem } from "../../src/ingest/ecosystem.js";
import { confluentCloud, connectGatherer } from "../../src/ingest/ecosystems/confluent_cloud/index.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { type ConfluentCloud, startConfluentCloud } from "../../src/simulator/confluent/cloud.js";
import { confluentTenant } from "../../src/simulator/confluent/tenant.js";
import { selfManagedTenant, simulatedTenants } from "../../src/simulator/tenants.js";
import { factTables } from "../../src/store/fact-tables.js";
import type { OpenedStores } from "../../src/store/open-stores.js";
import { addDays } from "../../src/time/days.js";
import { quick } from "../ingest/confluent-tenant.js";
import { recordingObserver, rowsOf, runContext, runOnce, today } from "../runner/runs.js";
import { openTestStores } from "../stores.js";

/** Days of history; a cutoff of one day leaves yesterday out. */
const DAYS = 7;

const now = () => new Date(`${today}T12:00:00Z`);

/** Retries after milliseconds, and the day of the tests for today: the vendor has no bill of more than a year ago. */
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
  /** One run, and the days that it published. */
  run(tenantName?: string): Promise<RunOutcome>;
}

export interface RunOutcome {
  readonly status: string;
  readonly errors: readonly string[];
  readonly published: readonly string[];
}

export interface SimulationOptions {
  /** The way to an upstream, by the address of the simulator. */
  readonly through?: (url: string, upstream: "bill" | "metrics") => Promise<string>;
  /** More settings of each tenant. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export async function startSimulatedService(
  t: Test,
  { through = async (url) => url, settings = {} }: SimulationOptions = {},
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

/** Several queries of the bill in a short history. */
function queriedByParts(tenant: ReturnType<typeof confluentTenant>): ReturnType<typeof confluentTenant> {
  return {
    ...tenant,
    plugin_settings: { ...tenant.plugin_settings, billing_api: { days_per_query: 4 } },
  };
}

/** Days of the window, ascending. */
export const days: readonly string[] = Array.from({ length: DAYS - 1 }, (_, index) =>
  addDays(today, index - DAYS),
);

/** What the vendor charges now, by day and resource; without a resource: by nothing. */
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

/** What a table says, by the same keys. Malformed rows are no resource of the truth. */
export async function charged(
  stores: OpenedStores,
  tenantName: string,
  table: "billing" | "chargebacks" | "topic_attributions",
  where = "1",
): Promise<Map<string, bigint>> {
  const money = table === "billing" ? "total_cost" : "amount";
  const resource = table === "topic_attributions" ? "cluster_resource_id" : "resource_id";
  const rows = await rowsOf<{ key: string; amount: string }>(
    stores,
    tenantName,
    `SELECT concat(toString(day), ' ', if(${resource} LIKE 'no_resource:%', 'no resource', ${resource})) AS key,
            toString(sum(toInt256(toDecimal256(${money}, 12) * 1000000000000))) AS amount
     FROM ${table} WHERE ${where} GROUP BY key`,
  );
  return new Map(rows.map(({ key, amount }) => [key, BigInt(amount)]));
}

/**
 * All that a refresh could touch: the parts of every fact table with the time of their last change, and the state of every day.
 * By day: `table day` → parts, `state day` → record.
 */
export async function fingerprint(stores: OpenedStores, tenantName: string): Promise<Map<string, string>> {
  const parts = await rowsOf<{ key: string; parts: string }>(
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

/** Which staging tables there are, whatever their name: one that rows were staged into and dropped from is made anew. */
export async function stagingTables(stores: OpenedStores, tenantName: string): Promise<string[]> {
  const tables = await rowsOf<{ uuid: string }>(
    stores,
    tenantName,
    `SELECT toString(uuid) AS uuid FROM system.tables
     WHERE database = currentDatabase() AND startsWith(name, 'staged_') ORDER BY uuid`,
  );
  return tables.map(({ uuid }) => uuid);
}

/** Merges what can be merged, so that the engine has nothing left to do by itself. */
export async function settleParts(stores: OpenedStores, tenantName: string): Promise<void> {
  const { client } = await stores.tenant(tenantName);
  const clickhouse_settings = { optimize_skip_merged_partitions: 1 } as const;
  for (const table of factTables)
    await client.command({ query: `OPTIMIZE TABLE ${table} FINAL`, clickhouse_settings });
}

/** Days whose entries are not the same in both, ascending. */
export function changedDays(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  const changed = keys.filter((key) => before.get(key) !== after.get(key));
  return [...new Set(changed.map((key) => key.slice(-10)))].sort();
}

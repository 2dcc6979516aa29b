import { pino } from "pino";
import type { Test } from "tap";
import { addDays } from "../../src/common/days.js";
import type { Config, TenantConfig } from "../../src/config/config.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { type DayReconciliation, reconcileDays } from "../../src/query/state/reconcile.js";
import { notifyAll, type RunListener } from "../../src/runner/run-events.js";
import type { RunResult } from "../../src/runner/sql/runs.js";
import {
  type RunRequest,
  startTenantRun,
  type TenantRunContext,
  usualLimits,
} from "../../src/runner/tenant-run.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import { testLogger } from "../stores.js";

/** The current day in runs of tests. */
export const runDay = "2026-06-30";

/** Returns the day this many days before the current day. */
export function daysBefore(days: number): string {
  return addDays(runDay, -days);
}

/** Returns a runner's context on real stores. `changes` replace parts of it. */
export function runContext(stores: OpenedStores, changes: Partial<TenantRunContext> = {}): TenantRunContext {
  return {
    stores,
    ecosystems,
    holder: "test",
    logger: testLogger,
    observer: notifyAll([]),
    now: () => new Date(`${runDay}T12:00:00Z`),
    limits: usualLimits,
    ...changes,
  };
}

/** Returns tenants with a short window: eight days back, without the last. `settings` are lines of YAML. */
export function shortTenants(names: readonly string[], settings: readonly string[] = []): string {
  const own = settings.map((line) => `    ${line}\n`).join("");
  const tenant = (name: string) => `
  ${name}:
    ecosystem: generic_metrics_only
    tenant_id: ${name}
    lookback_days: 8
    cutoff_days: 1
${own}    storage: { connection_string: "embedded:${name}" }
    plugin_settings:
      cluster_id: cluster-${name}
      cost_types:
        - name: COMPUTE
          product_category: compute
          rate: 0.10
          cost_quantity: { type: fixed, count: 3 }
          allocation_strategy: even_split`;
  return `tenants:${names.map(tenant).join("")}`;
}

export function tenantOf(config: Config, tenantName: string): TenantConfig {
  const tenant = config.tenants.get(tenantName);
  if (tenant === undefined) throw new Error(`no tenant ${tenantName}`);
  return tenant;
}

/** Runs a tenant once, to the end. */
export async function runOnce(
  context: TenantRunContext,
  config: Config,
  tenantName: string,
  changes: Partial<RunRequest> = {},
): Promise<RunResult> {
  const signal = new AbortController().signal;
  const request = { trigger: "cli" as const, signal, ...changes };
  return await (await startTenantRun(context, tenantOf(config, tenantName), request)).done;
}

/** Records the events of an observer. */
export function recordingObserver(): { observer: RunListener; events: string[] } {
  const events: string[] = [];
  const observer: RunListener = {
    gathered: (tenant, days) => events.push(`${tenant} gathered ${days}`),
    pending: (tenant, days) => events.push(`${tenant} pending ${days}`),
    published: (tenant, day) => events.push(`${tenant} published ${day.day}`),
    skipped: (tenant) => events.push(`${tenant} skipped`),
    suspended: (tenant) => events.push(`${tenant} suspended`),
    finished: (tenant, outcome) => events.push(`${tenant} ${outcome.status}`),
  };
  return { observer, events };
}

/** Returns a logger, and the messages that it wrote, each with its level. */
export function recordingLogger() {
  const lines: { level: number; msg: string; [field: string]: unknown }[] = [];
  const logger = pino({ level: "info" }, { write: (text: string) => void lines.push(JSON.parse(text)) });
  return { logger, lines, messages: () => lines.map((line) => line.msg) };
}

/** Returns the state of a day. */
export async function trackingDate(stores: OpenedStores, tenantName: string, day: string) {
  const found = await stores.postgres.query(
    "SELECT * FROM tracking_dates WHERE tenant_name = $1 AND tracking_date = $2",
    [tenantName, day],
  );
  return found.rows[0];
}

/**
 * Sets the state as if an earlier run had found no bill for any day of the tenant. The next run that finds the same
 * publishes it.
 */
export async function lossSaidBefore(stores: Pick<OpenedStores, "postgres">, tenantName: string) {
  await stores.postgres.query(
    "UPDATE tracking_dates SET doubted_bill = '0 lines, 0 USD', doubted_epoch = 0 WHERE tenant_name = $1",
    [tenantName],
  );
}

/** Returns the records of a tenant's runs, the oldest first. */
export async function runRecords(stores: OpenedStores, tenantName: string) {
  const found = await stores.postgres.query(
    "SELECT * FROM runs WHERE tenant_name = $1 ORDER BY started_at, epoch",
    [tenantName],
  );
  return found.rows;
}

/** Returns the rows of a query on a tenant's store. */
export async function runRows<Row>(stores: OpenedStores, tenantName: string, query: string): Promise<Row[]> {
  const { client } = await stores.tenant(tenantName);
  return await (await client.query({ query, format: "JSONEachRow" })).json<Row>();
}

/** Returns the charged amount of each day, such as `2026-03-01 100`. */
export async function chargedByDay(stores: OpenedStores, tenantName: string): Promise<string[]> {
  const sums =
    "SELECT toString(day) AS day, toString(sum(amount_hi + amount_lo)) AS amount FROM chargebacks GROUP BY day ORDER BY day";
  const found = await runRows<{ day: string; amount: string }>(stores, tenantName, sums);
  return found.map(({ day, amount }) => `${day} ${amount}`);
}

/** Returns a day's published chargebacks, `identity: amount`, with the detail if it is an issue. */
export async function chargedOn(stores: OpenedStores, tenantName: string, day: string): Promise<string[]> {
  const rows = await runRows<{ who: string; amount: string; detail: string }>(
    stores,
    tenantName,
    `SELECT identity_id AS who, toString(amount) AS amount, allocation_detail AS detail FROM chargebacks
     WHERE day = '${day}' ORDER BY resource_id, who, amount`,
  );
  const healthy = ["even_split_allocation", "usage_ratio_allocation"];
  return rows.map(
    ({ who, amount, detail }) => `${who}: ${amount}${healthy.includes(detail) ? "" : ` ${detail}`}`,
  );
}

/** Compares billing and chargebacks, and counts the staged rows. */
export async function reconciled(stores: OpenedStores, tenantName: string) {
  const { client } = await stores.tenant(tenantName);
  const { days, totals } = await reconcileDays(client, new AbortController().signal);
  const off = days.filter((day: DayReconciliation) => day.difference !== "0" || day.lines_off !== "0");
  const [staged] = await runRows<{ n: string }>(
    stores,
    tenantName,
    "SELECT sum(total_rows) AS n FROM system.tables WHERE database = currentDatabase() AND name LIKE 'staged_%'",
  );
  return {
    days: days.length,
    off,
    billing: totals.map((total) => total.billing).join(" and ") || "0",
    staged: Number(staged?.n),
  };
}

export type { Test };

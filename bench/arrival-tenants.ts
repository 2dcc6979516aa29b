/** Tenants whose bills arrive, their files, and what the API shows of them. */
import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../src/clickhouse/statement.js";
import { addDays, dayOf } from "../src/common/days.js";
import type { Config } from "../src/config/config.js";
import { loadConfig } from "../src/config/load.js";
import { formatProblems } from "../src/config/reader/problem.js";
import { ecosystems } from "../src/ingest/ecosystems/registry.js";
import { type BillFiles, bill, billSource, makeBill } from "./focus-bill.js";
import { fetchJson } from "./http-client.js";

/** Bills of the tenant whose days are published before they change, one a month, and the lines of each. */
export const PUBLISHED = { bills: 7, lines: 30_000 } as const;
/** The account whose lines the map gives to somebody. */
const ACCOUNT = "200000000007";

export type Tenants = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A tenant with a source of bills in each folder. A line in fifty is split by uploaded usage. */
export function ofBills(folders: readonly string[]): Readonly<Record<string, unknown>> {
  return {
    ecosystem: "focus",
    lookback_days: bill.days * PUBLISHED.bills + 2,
    cutoff_days: 1,
    allocation: {
      identity: [{ tag: "team" }],
      rules: [
        { name: "shared", where: { "tag.shared": "yes" }, split: [{ by: "usage", metric: bill.metric }] },
      ],
    },
    plugin_settings: {
      usage: { uploads: { metrics: [bill.metric] } },
      sources: folders.map((location, at) => ({
        name: `bill-${at}`,
        location,
        limits: { settle_seconds: 0 },
      })),
    },
  };
}

export function readTenants(folder: string, port: number, tenants: Tenants): Config {
  const stored = Object.entries(tenants).map(([name, tenant]) => [
    name,
    { tenant_id: name, ...tenant, storage: { connection_string: `embedded:${name}` } },
  ]);
  const yaml = JSON.stringify({
    data_dir: join(folder, "data"),
    api: { port, rate_limit: { max_per_minute: 1_000_000 } },
    features: { refresh_interval: 86_400 },
    tenants: Object.fromEntries(stored),
  });
  const loaded = loadConfig(yaml, { file: "arrival.yaml", env: {}, ecosystems, folder });
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems));
  return loaded.config;
}

/** Gives the lines of an account on one day to somebody. */
export function writeMap(path: string, identity: string): void {
  const day = addDays(dayOf(new Date()), -20);
  writeFileSync(path, `value,identity,valid_from,valid_to\n${ACCOUNT},${identity},${day},${day}\n`);
}

export async function madeBill(
  client: ClickHouseClient,
  folder: string,
  size: { readonly lines: number; readonly first: string },
): Promise<BillFiles> {
  mkdirSync(folder);
  const files = { Parquet: join(folder, "bill.parquet"), CSV: join(folder, "bill.csv") };
  const bills = { files, usage: join(folder, "usage.csv") };
  await makeBill(client, bills, size);
  return bills;
}

export async function billedIn(client: ClickHouseClient, { files }: BillFiles): Promise<string> {
  const query = `SELECT toString(sum(EffectiveCost)) AS total FROM ${billSource("Parquet", files.Parquet)}`;
  return (await readRows<{ total: string }>(client, { query, params: {} }))[0]?.total ?? "";
}

/** Copies the file beside the folder, then moves it in: nobody sees half of it. */
export function drop(file: string, folder: string): void {
  const name = basename(file);
  const beside = `${folder}-${name}`;
  copyFileSync(file, beside);
  renameSync(beside, join(folder, name));
}

export async function uploadUsage(url: string, tenant: string, file: string): Promise<void> {
  const response = await fetch(`${url}/api/v1/tenants/${tenant}/usage`, {
    method: "POST",
    headers: { "content-type": "text/csv", "idempotency-key": "a" },
    body: readFileSync(file),
  });
  if (!response.ok) throw new Error(`usage: ${response.status} ${await response.text()}`);
}

/** The part of an aggregation that the benchmark reads. */
export interface Sums {
  readonly buckets: readonly { readonly dimensions: { readonly identity_id: string } }[];
  readonly total_amount: string;
  readonly total_rows: number;
}

export async function sumsOf(url: string, tenant: string): Promise<Sums> {
  const days = `start_date=${addDays(dayOf(new Date()), -300)}&end_date=${dayOf(new Date())}`;
  const path = `${url}/api/v1/tenants/${tenant}/chargebacks/aggregate?${days}&time_bucket=month`;
  return (await fetchJson<Sums>(path)).body;
}

export function seenIn(url: string, tenant: string, isSeen: (sums: Sums) => boolean): () => Promise<boolean> {
  return async () => isSeen(await sumsOf(url, tenant));
}

/** Makes the organisation's facts once per size, and stages them for allocation any number of times. */
import type { ClickHouseClient } from "@clickhouse/client";
import { stagedTable } from "../src/clickhouse/staging.js";
import type { FactTable } from "../src/domain/fact-tables.js";
import type { TenantStore } from "../src/stores/stores.js";
import { allDays, organisation, organisationFacts, organisationTables } from "./organisation.js";

/** Tables that keep the facts for staging. */
const sources = {
  billing: "bench_billing",
  usage: "bench_usage",
  identity_sets: "bench_identity_sets",
} as const;
type Gathered = keyof typeof sources;
const gathered: readonly Gathered[] = ["billing", "usage", "identity_sets"];

/** Days per statement: few enough to make 100 M rows in bounded memory, many enough that no part is tiny. */
const DAYS_AT_ONCE = 10;

const generation = {
  max_partitions_per_insert_block: "1000",
  min_insert_block_size_rows: "2000000",
  min_insert_block_size_bytes: "1000000000",
  max_memory_usage: "4000000000",
} as const;

export interface DatasetSize {
  readonly lines: number;
  readonly facts: number;
}

/**
 * Makes the facts unless a complete set exists. `samplesADay` is the number of usage facts per metric, identity and
 * day.
 */
export async function makeFacts(store: TenantStore, rows: number, samplesADay = 1): Promise<DatasetSize> {
  const { client } = store;
  if (
    (await countRows(
      client,
      "system.tables WHERE database = currentDatabase() AND name = 'bench_complete'",
    )) === 0
  ) {
    for (const statement of organisationTables(rows)) {
      const { query, params } = statement;
      await client.command({ query, query_params: { ...params }, clickhouse_settings: generation });
    }
    for (const table of gathered)
      await client.command({ query: `CREATE OR REPLACE TABLE ${sources[table]} AS ${table}` });
    for (let from = 0; from < organisation.days; from += DAYS_AT_ONCE) {
      for (const query of organisationFacts(sources, samplesADay)) {
        const query_params = { from, to: Math.min(from + DAYS_AT_ONCE, organisation.days) };
        await client.command({ query, query_params, clickhouse_settings: generation });
      }
    }
    await client.command({ query: "CREATE TABLE bench_complete (x UInt8) ENGINE = TinyLog" });
  }
  return { lines: await countRows(client, sources.billing), facts: await countRows(client, sources.usage) };
}

/** Puts all days into the staging tables of an epoch. Partitions are attached rather than copied. */
export async function stageFacts(client: ClickHouseClient, epoch: number): Promise<void> {
  for (const table of gathered) await attach(client, stagedTable(table as FactTable, epoch), sources[table]);
}

async function attach(client: ClickHouseClient, to: string, from: string): Promise<void> {
  const actions = allDays.map((day) => `REPLACE PARTITION '${day}' FROM ${from}`);
  await client.command({ query: `ALTER TABLE ${to} ${actions.join(", ")}` });
}

export async function countRows(client: ClickHouseClient, from: string): Promise<number> {
  const result = await client.query({ query: `SELECT count() AS n FROM ${from}`, format: "JSONEachRow" });
  const [row] = await result.json<{ n: string }>();
  return Number(row?.n);
}

/** Waits for background merges, so that they neither slow down a measurement nor change the size on disk. */
export async function settle(client: ClickHouseClient): Promise<void> {
  const deadline = performance.now() + 120_000;
  let quiet = 0;
  while (quiet < 5 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    quiet = (await countRows(client, "system.merges")) === 0 ? quiet + 1 : 0;
  }
}

/** Ways to load a bill's file into a table: ours with all its checks, the engine's own without any, and DuckDB's. */
import { randomUUID } from "node:crypto";
import { createReadStream, rmSync, statSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { DuckDBInstance } from "@duckdb/node-api";
import { identifier, literal } from "../src/clickhouse/sql-text.js";
import type { DeliveryStore } from "../src/ingest/ecosystems/focus/deliveries/delivery-store.js";
import { loadDelivery } from "../src/ingest/ecosystems/focus/deliveries/load-delivery.js";
import { dropDelivery } from "../src/ingest/ecosystems/focus/deliveries/partitions.js";
import { type BillFormat, billColumns, billSource } from "./focus-bill.js";
import { once } from "./measure.js";

export interface Loaded {
  readonly seconds: number;
  /** Sum of EffectiveCost with 12 places. */
  readonly cost: string;
}

const settings = {
  ...({ cost: "EffectiveCost", currency: undefined, shrinkLimit: 0.5, hash: "bench" } as const),
  ...({
    keepFrom: "2000-01-01",
    spread: "none",
    overlaps: { precedence: [], adding: new Set<string>() },
  } as const),
  today: new Date().toISOString().slice(0, 10),
};

/** Loads the file as a run does, including the record of the delivery. Nothing of it remains. */
export async function loadAsWeDo(store: DeliveryStore, path: string): Promise<Loaded> {
  const { client, postgres, tenantName } = store;
  const source = `bench-${randomUUID()}`;
  const file = {
    name: path,
    size: statSync(path).size,
    version: "1",
    maxUnpackedMib: 102_400,
    open: async () => createReadStream(path),
  };
  const delivery = {
    source,
    billing_period: undefined,
    kind: "snapshot",
    id: source,
    files: [file],
    remarks: [],
  } as const;
  const ms = await once(async () => {
    const outcome = await loadDelivery(
      store,
      delivery,
      { old: [], moved: [], known: [], others: [] },
      settings,
      new AbortController().signal,
    );
    if (outcome.state !== "current") throw new Error(outcome.problem);
  });
  const { rows } = await postgres.query<{ delivery_id: string; cost: string; odd: string }>(
    `SELECT delivery_id::text, (sums -> 0 ->> 'effective_cost')::numeric(38, 12)::text AS cost, findings::text AS odd
     FROM deliveries WHERE tenant_name = $1 AND source = $2`,
    [tenantName, source],
  );
  const [{ delivery_id: id, cost, odd } = { delivery_id: "", cost: "", odd: "" }] = rows;
  if (odd !== "[]") throw new Error(`the bill is odd: ${odd}`);
  await dropDelivery(client, id);
  await postgres.query("DELETE FROM deliveries WHERE tenant_name = $1 AND source = $2", [tenantName, source]);
  return { seconds: ms / 1000, cost };
}

/** A partition without a delivery. */
const NO_DELIVERY = "9007199254740991";

/** Loads the file with the engine alone, with its own or the given types, into our table and with all threads. */
export async function loadByEngine(
  client: ClickHouseClient,
  format: BillFormat,
  path: string,
): Promise<number> {
  const own = billColumns.filter(({ name }) => !/^(x_|Tags$|ProviderName$|PublisherName$)/.test(name));
  const columns: readonly (readonly [string, string])[] = [
    ["delivery", NO_DELIVERY],
    ["line", "rowNumberInAllBlocks() + 1"],
    ["charge_day", "toDate(ChargePeriodStart)"],
    [
      "custom_columns",
      "map('PublisherName', ifNull(PublisherName, ''), 'x_Operation', ifNull(x_Operation, ''), 'x_ServiceCode', ifNull(x_ServiceCode, ''))",
    ],
    ["ServiceProviderName", "ifNull(ProviderName, '')"],
    ["Tags", format === "CSV" ? "JSONExtract(Tags, 'Map(String, String)')" : "Tags"],
    ...own.map(({ name, kind }) => [name, kind === "text" ? `ifNull(${name}, '')` : name] as const),
  ];
  const ms = await once(() =>
    client.command({
      query: `INSERT INTO focus_lines (${columns.map(([name]) => identifier(name)).join(", ")})
        SELECT ${columns.map(([, sql]) => sql).join(", ")} FROM ${billSource(format, path)}`,
    }),
  );
  await dropDelivery(client, NO_DELIVERY);
  return ms / 1000;
}

export interface BillDuckDb {
  /** Loads into a table of its own with all columns and detected types. */
  load(format: BillFormat, path: string): Promise<Loaded>;
  close(): void;
}

export async function openBillDuckDb(folder: string): Promise<BillDuckDb> {
  const database = join(folder, "bill.duckdb");
  const instance = await DuckDBInstance.create(database, {
    threads: String(cpus().length),
    memory_limit: "4GB",
  });
  const connection = await instance.connect();
  return {
    async load(format, path) {
      const read = format === "CSV" ? "read_csv" : "read_parquet";
      const ms = await once(async () => {
        await connection.run(`CREATE OR REPLACE TABLE bill AS SELECT * FROM ${read}(${literal(path)})`);
        await connection.run("CHECKPOINT");
      });
      // DuckDB reads decimals in CSV as inexact doubles, so they are read again as text for the sum alone.
      const again = format === "CSV" ? `read_csv(${literal(path)}, all_varchar = true)` : "bill";
      const sum = `SELECT CAST(sum(CAST(EffectiveCost AS DECIMAL(38, 12))) AS VARCHAR) FROM ${again}`;
      const [row] = await (await connection.run(sum)).getRowsJson();
      return { seconds: ms / 1000, cost: String(row?.[0]) };
    },
    close() {
      connection.closeSync();
      instance.closeSync();
      rmSync(database, { force: true });
    },
  };
}

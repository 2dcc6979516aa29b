/**
 * Benchmark of DuckDB at its best: the same rows in native tables, text as ENUM, amounts in 64 bits, sorted like ours
 * and by identity, with as many threads as cores, and the sums in three ways. Each case is measured in its fastest
 * layout and way, and its buckets are compared with ours to the last digit.
 */
import { rmSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { AggregateInput } from "../src/query/chargebacks/summed-rows.js";
import { comparableBuckets, type DuckdbLayout, duckWays, layouts } from "./duckdb-sql.js";
import { once } from "./measure.js";
import { allDays } from "./organisation.js";

/** The fastest way of DuckDB for one aggregation. */
export interface DuckCase {
  readonly layout: DuckdbLayout;
  readonly way: string;
  run(): Promise<void>;
}

export interface DuckDb {
  fastest(input: AggregateInput): Promise<DuckCase>;
  /**
   * Returns the first buckets with all digits, one per line: keys, total, usage, shared, rows; then the totals over all
   * buckets.
   */
  buckets(input: AggregateInput): Promise<string[]>;
  close(): Promise<void>;
}

const texts = [
  "resource_id",
  "product_type",
  "product_category",
  "env_id",
  "identity_id",
  "cost_type",
  "allocation_method",
];

/** Transfers rows as Parquet files of a few days each. */
export async function loadDuckDb(client: ClickHouseClient, folder: string): Promise<DuckDb> {
  const database = join(folder, "bench.duckdb");
  rmSync(database, { force: true });
  const instance = await DuckDBInstance.create(database, {
    threads: String(cpus().length),
    memory_limit: "8GB",
  });
  const connection = await instance.connect();
  const file = join(folder, "rows.parquet");
  const handOver = async (select: string, params: Record<string, unknown>, into: string) => {
    rmSync(file, { force: true });
    await client.command({
      query: `INSERT INTO FUNCTION file({file:String}, 'Parquet') ${select}`,
      query_params: { file, ...params },
      clickhouse_settings: { output_format_parquet_string_as_string: 1 },
    });
    await connection.run(into.replace("FILE", `read_parquet('${file.replaceAll("'", "''")}')`));
  };
  for (const column of texts) {
    const values = `SELECT DISTINCT toString(${column}) AS value FROM chargebacks`;
    await handOver(values, {}, `CREATE TYPE ${column}_t AS ENUM (SELECT value FROM FILE ORDER BY value)`);
  }
  const columns = texts.map((column) => `${column} ${column}_t`).join(", ");
  // The residue below a ten-thousandth is only read to compare results. It would make DuckDB slower by half.
  await connection.run(
    `CREATE TABLE ${layouts.day} (timestamp TIMESTAMP, ${columns}, amount DECIMAL(18, 4), residue DECIMAL(38, 12))`,
  );
  for (let from = 0; from < allDays.length; from += 10) {
    await handOver(
      `SELECT timestamp, ${texts.map((column) => `toString(${column}) AS ${column}`).join(", ")}, amount_hi AS amount, amount_lo AS residue
        FROM chargebacks WHERE day IN {days:Array(Date)}
        ORDER BY day, resource_id, product_type, env_id, product_category, timestamp, component, identity_id`,
      { days: allDays.slice(from, from + 10) },
      `INSERT INTO ${layouts.day} SELECT * FROM FILE`,
    );
  }
  rmSync(file, { force: true });
  await connection.run(
    `CREATE TABLE ${layouts.identity} AS SELECT * FROM ${layouts.day} ORDER BY identity_id, timestamp`,
  );
  await connection.run("CHECKPOINT");
  return {
    fastest: (input) => fastest(connection, input),
    buckets: async (input) =>
      (await rowsOf(connection, comparableBuckets(input))).map((row) => row.join("|")),
    async close() {
      connection.closeSync();
      instance.closeSync();
      rmSync(database, { force: true });
    },
  };
}

/** Tries each layout in each way twice, and returns the one with the fastest second time. */
async function fastest(connection: DuckDBConnection, input: AggregateInput): Promise<DuckCase> {
  let best: { readonly ms: number; readonly found: DuckCase } | undefined;
  for (const layout of Object.keys(layouts) as DuckdbLayout[]) {
    for (const { name, run } of duckWays) {
      const found: DuckCase = {
        layout,
        way: name,
        run: () => run((sql) => rowsOf(connection, sql), layouts[layout], input),
      };
      await found.run();
      const ms = await once(found.run);
      if (best === undefined || ms < best.ms) best = { ms, found };
    }
  }
  if (best === undefined) throw new Error("DuckDB has no layout");
  return best.found;
}

async function rowsOf(connection: DuckDBConnection, sql: string): Promise<readonly string[][]> {
  const rows = await (await connection.run(sql)).getRowsJson();
  return rows.map((row) => row.map(String));
}

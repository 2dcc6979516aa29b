/** DuckDB beside us: the same rows in a native table of its own, sorted as ours are, with as many threads as the machine has cores. */
import { rmSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { DuckDBInstance } from "@duckdb/node-api";
import {
  type AggregateInput,
  BUCKET_LIMIT,
  type GroupColumn,
  groupColumns,
} from "../src/query/chargeback-aggregate.js";
import { allDays } from "./organisation.js";

export interface DuckDb {
  /** The sums of the aggregation endpoint: buckets in order, at most as many, with totals over all of them. */
  aggregate(input: AggregateInput): Promise<void>;
  close(): Promise<void>;
}

const columns = [
  "timestamp",
  "resource_id",
  "product_type",
  "product_category",
  "env_id",
  "identity_id",
  "cost_type",
  "allocation_method",
];

/** Rows go over as Parquet files, a few days each. */
export async function loadDuckDb(client: ClickHouseClient, folder: string): Promise<DuckDb> {
  const database = join(folder, "bench.duckdb");
  rmSync(database, { force: true });
  const instance = await DuckDBInstance.create(database, {
    threads: String(cpus().length),
    memory_limit: "8GB",
  });
  const connection = await instance.connect();
  const texts = columns.slice(1).map((column) => `${column} VARCHAR`);
  await connection.run(
    `CREATE TABLE chargebacks (timestamp TIMESTAMP, ${texts.join(", ")}, amount DECIMAL(38, 12))`,
  );
  const file = join(folder, "rows.parquet");
  for (let from = 0; from < allDays.length; from += 10) {
    rmSync(file, { force: true });
    await client.command({
      query: `INSERT INTO FUNCTION file({file:String}, 'Parquet')
        SELECT ${columns.map((column) => (column === "timestamp" ? column : `toString(${column}) AS ${column}`)).join(", ")}, amount_hi + amount_lo AS amount
        FROM chargebacks WHERE day IN {days:Array(Date)}
        ORDER BY day, resource_id, product_type, env_id, product_category, timestamp, component, identity_id`,
      query_params: { file, days: allDays.slice(from, from + 10) },
      clickhouse_settings: { output_format_parquet_string_as_string: 1 },
    });
    await connection.run(
      `INSERT INTO chargebacks SELECT * FROM read_parquet('${file.replaceAll("'", "''")}')`,
    );
  }
  rmSync(file, { force: true });
  await connection.run("CHECKPOINT");
  return {
    aggregate: async (input) => void (await (await connection.run(aggregateSql(input))).getRows()),
    async close() {
      connection.closeSync();
      instance.closeSync();
      rmSync(database, { force: true });
    },
  };
}

function aggregateSql({ groupBy, filters, window }: AggregateInput): string {
  const groups = groupBy.map(storedColumn);
  const instant = (seconds: number) =>
    `TIMESTAMP '${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")}'`;
  const where = [
    `timestamp >= ${instant(window.from)}`,
    `timestamp < ${instant(window.to)}`,
    ...(filters.identity_id === undefined ? [] : [`identity_id = '${filters.identity_id}'`]),
  ];
  const keys = ["bucket", ...groups].join(", ");
  const sums = ["total", "usage", "shared", "n"].map((name) => `sum(${name}) OVER () AS all_${name}`);
  return `
WITH buckets AS (
  SELECT CAST(timestamp AS DATE) AS bucket, ${groups.join(", ")}, sum(amount) AS total, sum(amount) FILTER (cost_type = 'usage') AS usage,
    sum(amount) FILTER (cost_type = 'shared') AS shared, count(*) AS n
  FROM chargebacks WHERE ${where.join(" AND ")}
  GROUP BY ${keys}
)
SELECT *, ${sums.join(", ")}, count(*) OVER () AS all_buckets FROM buckets ORDER BY ${keys} LIMIT ${BUCKET_LIMIT}`;
}

function storedColumn(name: GroupColumn): string {
  const stored = Object.entries(groupColumns).find(([each]) => each === name);
  if (stored === undefined) throw new Error(`DuckDB has no column for ${name}`);
  return stored[1];
}

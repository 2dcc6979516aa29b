/** Bytes per chargeback row on disk, including its part in the sums: in total, per table, and per column. */
import type { ClickHouseClient } from "@clickhouse/client";
import { sumTables } from "../src/domain/sum-tables.js";
import type { Benchmark } from "./benchmark.js";
import { settle } from "./dataset.js";
import type { Figure } from "./measure.js";

export const benchDisk: Benchmark = async ({ store, rows }) => {
  await settle(store.client);
  const figure = (name: string, bytes: number, more: Partial<Figure> = {}): Figure => ({
    benchmark: "disk",
    name,
    value: bytes / rows,
    unit: "bytes/row",
    ...more,
  });
  const tables = await sizes(
    store.client,
    "SELECT table AS name, sum(bytes_on_disk) AS bytes, concat(toString(count()), ' parts, ', any(part_type)) AS parts FROM system.parts",
    ["chargebacks", ...sumTables],
    "GROUP BY name ORDER BY name",
  );
  const columns = await sizes(
    store.client,
    "SELECT column AS name, sum(column_data_compressed_bytes) AS bytes, '' AS parts FROM system.parts_columns",
    ["chargebacks"],
    "GROUP BY name HAVING bytes > 0 ORDER BY bytes DESC",
  );
  return [
    figure(
      "in all",
      tables.reduce((sum, { bytes }) => sum + Number(bytes), 0),
      { target: { at: "most", value: 4 } },
    ),
    ...tables.map(({ name, bytes, parts }) => figure(`table ${name}`, Number(bytes), { note: parts })),
    ...columns.map(({ name, bytes }) => figure(`column ${name}`, Number(bytes))),
  ];
};

interface Size {
  readonly name: string;
  readonly bytes: string;
  readonly parts: string;
}

async function sizes(
  client: ClickHouseClient,
  select: string,
  tables: readonly string[],
  rest: string,
): Promise<Size[]> {
  const result = await client.query({
    query: `${select} WHERE active AND database = currentDatabase() AND table IN {tables:Array(String)} ${rest}`,
    query_params: { tables },
    format: "JSONEachRow",
  });
  return await result.json<Size>();
}

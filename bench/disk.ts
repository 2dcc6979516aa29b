/** Bytes of a chargeback row on disk: in all, in each projection, and in each column where parts keep columns apart. */
import type { ClickHouseClient } from "@clickhouse/client";
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
  const [parts] = await sizes(
    store.client,
    "SELECT concat(toString(count()), ' parts, ', any(part_type)) AS name, sum(bytes_on_disk) AS bytes FROM system.parts",
  );
  const projections = await sizes(
    store.client,
    "SELECT name, sum(bytes_on_disk) AS bytes FROM system.projection_parts",
    "GROUP BY name ORDER BY name",
  );
  const columns = await sizes(
    store.client,
    "SELECT column AS name, sum(column_data_compressed_bytes) AS bytes FROM system.parts_columns",
    "GROUP BY name HAVING bytes > 0 ORDER BY bytes DESC",
  );
  return [
    figure("in all", Number(parts?.bytes), {
      target: { at: "most", value: 4 },
      ...(parts && { note: parts.name }),
    }),
    ...projections.map(({ name, bytes }) => figure(`projection ${name}`, Number(bytes))),
    ...columns.map(({ name, bytes }) => figure(`column ${name}`, Number(bytes))),
  ];
};

async function sizes(
  client: ClickHouseClient,
  select: string,
  rest = "",
): Promise<{ name: string; bytes: string }[]> {
  const result = await client.query({
    query: `${select} WHERE active AND database = currentDatabase() AND table = 'chargebacks' ${rest}`,
    format: "JSONEachRow",
  });
  return await result.json<{ name: string; bytes: string }>();
}

/** Contents of an engine over all tenants. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../src/clickhouse/statement.js";

export interface Contents {
  /** Including views. */
  readonly tables: number;
  readonly activeParts: number;
  /** Parts that were replaced or merged and not yet removed. The engine keeps them for eight minutes. */
  readonly inactiveParts: number;
}

export async function contentsOf(client: ClickHouseClient): Promise<Contents> {
  const [contents] = await readRows<Contents>(client, {
    query: `
SELECT toUInt32(countIf(active)) AS activeParts, toUInt32(countIf(NOT active)) AS inactiveParts,
  (SELECT toUInt32(count()) FROM system.tables WHERE database NOT IN ('system', 'information_schema', 'INFORMATION_SCHEMA')) AS tables
FROM system.parts`,
    params: {},
  });
  if (contents === undefined) throw new Error("the engine did not say what it holds");
  return contents;
}

import type { ClickHouseClient } from "@clickhouse/client";
import { sumsOf, sumTables } from "../src/domain/sum-tables.js";

/** Calculates the sums of chargebacks that a test has inserted itself. A publish does this for its days. */
export async function sumUp(client: ClickHouseClient): Promise<void> {
  for (const table of sumTables) {
    await client.command({ query: `TRUNCATE TABLE ${table} SYNC` });
    await client.command({
      query: `INSERT INTO ${table} ${sumsOf(table, "1")}`,
      clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    });
  }
}

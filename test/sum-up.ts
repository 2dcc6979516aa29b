import type { ClickHouseClient } from "@clickhouse/client";
import { sumsOf, sumTables } from "../src/store/sum-tables.js";

/** Makes the sums of chargebacks that a test has put into a store itself. A publish does it of its days. */
export async function sumUp(client: ClickHouseClient): Promise<void> {
  for (const table of sumTables) {
    await client.command({ query: `TRUNCATE TABLE ${table} SYNC` });
    await client.command({
      query: `INSERT INTO ${table} ${sumsOf(table, "1")}`,
      clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    });
  }
}

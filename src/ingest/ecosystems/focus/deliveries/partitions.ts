/** Partitions of deliveries in the tenant's store. */
import type { ClickHouseClient } from "@clickhouse/client";
import { dropNumberedPartition, numberedPartitions } from "../../../../store/clickhouse/partitions.js";

const tables = ["focus_lines", "focus_text_sums"] as const;

/** Drops what no record keeps: what was replaced, and what a load that was cut off left behind. */
export async function dropUnrecorded(
  client: ClickHouseClient,
  recorded: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<void> {
  for (const table of tables) {
    const found = await numberedPartitions(client, table, signal);
    for (const partition of found)
      if (!recorded.has(partition)) await dropNumberedPartition(client, table, partition);
  }
}

export async function dropDelivery(client: ClickHouseClient, deliveryId: string): Promise<void> {
  for (const table of tables) await dropNumberedPartition(client, table, deliveryId);
}

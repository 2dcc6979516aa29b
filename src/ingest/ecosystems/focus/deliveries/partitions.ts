/** Partitions of deliveries in the tenant's ClickHouse database. */
import type { ClickHouseClient } from "@clickhouse/client";
import { dropNumberedPartition, numberedPartitions } from "../../../../clickhouse/partitions.js";
import type { RecordedDelivery } from "./records.js";

const tables = ["focus_lines", "focus_text_sums"] as const;

/** Drops partitions without a record: those of replaced deliveries, and those of loads that were cut off. */
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

/** Returns the deliveries whose lines are missing from the store, because it was lost or restored to an older state. */
export async function withoutLines<Delivery extends Pick<RecordedDelivery, "delivery_id" | "lines">>(
  client: ClickHouseClient,
  deliveries: readonly Delivery[],
  signal?: AbortSignal,
): Promise<Delivery[]> {
  const stored = new Set(await numberedPartitions(client, "focus_lines", signal));
  return deliveries.filter(({ delivery_id, lines }) => Number(lines) > 0 && !stored.has(delivery_id));
}

export async function dropDelivery(client: ClickHouseClient, deliveryId: string): Promise<void> {
  for (const table of tables) await dropNumberedPartition(client, table, deliveryId);
}

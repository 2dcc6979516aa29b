/** Partitions of deliveries in the tenant's store. */
import type { ClickHouseClient } from "@clickhouse/client";
import { dropNumberedPartition, numberedPartitions } from "../../../../store/clickhouse/partitions.js";
import type { RecordedDelivery } from "./records.js";

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

/** Of deliveries that have lines, those whose lines the store does not have: it was lost, or set back. */
export async function withoutLines<Kept extends Pick<RecordedDelivery, "delivery_id" | "lines">>(
  client: ClickHouseClient,
  deliveries: readonly Kept[],
  signal?: AbortSignal,
): Promise<Kept[]> {
  const there = new Set(await numberedPartitions(client, "focus_lines", signal));
  return deliveries.filter(({ delivery_id, lines }) => Number(lines) > 0 && !there.has(delivery_id));
}

export async function dropDelivery(client: ClickHouseClient, deliveryId: string): Promise<void> {
  for (const table of tables) await dropNumberedPartition(client, table, deliveryId);
}

/**
 * Partial days that are published with a fuller bill: one with a line for a product that the partial bill lacks. A metrics
 * outage, or a Prometheus that has dropped its old samples, never takes a line away that was billed before.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../store/clickhouse/sql-text.js";
import { stagedTable } from "../../store/clickhouse/staging.js";
import { readRows } from "../../store/clickhouse/statement.js";
import type { StagedDays } from "./measured-facts.js";

/** Returns those of the days, ascending. */
export async function fullerPublished(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  signal: AbortSignal,
): Promise<string[]> {
  if (days.length === 0) return [];
  const read = {
    query: `
      SELECT DISTINCT day FROM billing
      WHERE day IN {days:Array(Date)} AND (day, resource_id, product_type) NOT IN (
        SELECT day, resource_id, product_type FROM ${stagedTable("billing", epoch)} WHERE day IN {days:Array(Date)}
      )
      ORDER BY day`,
    params: { days: days.map(isoDay) },
  };
  return (await readRows<{ day: string }>(client, read, signal)).map(({ day }) => day);
}

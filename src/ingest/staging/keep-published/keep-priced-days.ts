/**
 * Keeps the price of a day whose samples the upstream has partly dropped. If a published line has more samples than the
 * new one, or a larger quantity, and the upstream no longer has samples from before the day, the day is staged as it is
 * published: bill, usage and sets. So new rules still apply to it, and its amounts stay.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { filledDays } from "../../../clickhouse/partitions.js";
import { isoDay } from "../../../clickhouse/sql-text.js";
import { dropStagedDays, stagedTable } from "../../../clickhouse/staging.js";
import { readRows } from "../../../clickhouse/statement.js";
import type { StagedDays } from "../measured-facts.js";
import { notCovered, type ReducedUsage, type RetentionCovers } from "./keep-dropped-usage.js";

const INPUT = ["billing", "usage", "identity_sets", "usage_gaps"] as const;

/** Returns the days that are staged as they are published, ascending. */
export async function keepPricedDays(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  retentionCovers: RetentionCovers,
  signal: AbortSignal,
): Promise<string[]> {
  if (days.length === 0) return [];
  const found = await reducedLines(client, { epoch, days }, signal);
  const kept = [...new Set((await notCovered(found, retentionCovers, signal)).map(({ day }) => day))].sort();
  if (kept.length === 0) return [];
  await dropStagedDays(client, epoch, kept, INPUT);
  const filled = await filledDays(client, INPUT, signal);
  for (const table of INPUT) {
    const published = kept.filter((day) => filled.get(table)?.has(day));
    if (published.length === 0) continue;
    const actions = published.map((day) => `ATTACH PARTITION '${isoDay(day)}' FROM ${table}`);
    await client.command({
      query: `ALTER TABLE ${stagedTable(table, epoch)} ${actions.join(", ")}`,
      abort_signal: signal,
    });
  }
  return kept;
}

/** Finds reduced lines by product. The name of the product is used as that of the metric. */
async function reducedLines(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  signal: AbortSignal,
): Promise<ReducedUsage[]> {
  const lines = (table: string) => `
    SELECT day AS billed_day, toString(resource_id) AS resource, toString(product_type) AS product,
      JSONExtractUInt(metadata, 'samples') AS samples, quantity
    FROM ${table} WHERE day IN {days:Array(Date)} AND JSONHas(metadata, 'expected_samples')`;
  const read = {
    query: `
      SELECT product AS metric, arraySort(groupUniqArray(100)(resource)) AS resources,
        arraySort(groupUniqArray(toString(billed_day))) AS days
      FROM (${lines("billing")}) AS before
      INNER JOIN (${lines(stagedTable("billing", epoch))}) AS now USING (billed_day, resource, product)
      WHERE before.samples > now.samples OR before.quantity > now.quantity
      GROUP BY metric ORDER BY metric`,
    params: { days: days.map(isoDay) },
  };
  return await readRows<ReducedUsage>(client, read, signal);
}

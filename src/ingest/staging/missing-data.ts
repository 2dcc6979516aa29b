/** Missing data of days in words: a sentence for each cause, the same for all days with that cause. */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import type { Ledger } from "../../domain/ledger.js";
import type { StagedDays } from "./measured-facts.js";

/** Day → sentences. Days without missing data are left out. */
export type MissingData = ReadonlyMap<string, readonly string[]>;

/** Number of resources that a sentence names; the others are counted. */
const MOST_NAMED = 3;

/** Reads the gaps of staged days. */
export async function readMissingData(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  { gaps }: Ledger,
  signal: AbortSignal,
): Promise<MissingData> {
  if (days.length === 0) return new Map();
  const query = `SELECT * FROM ${stagedTable(gaps, epoch)} WHERE day IN {days:Array(Date)} AND metric != 'metrics_derived'`;
  return await missingDataOf(client, { query, params: { days: days.map(isoDay) } }, signal);
}

/** Makes sentences from a statement with rows `{day, metric, resource_id, reason}`. */
export async function missingDataOf(
  client: ClickHouseClient,
  { query, params }: Statement,
  signal: AbortSignal,
): Promise<MissingData> {
  const read = {
    query: `
      SELECT day, arraySort(groupUniqArray(toString(metric))) AS metrics, reason, arraySlice(arraySort(groupUniqArray(toString(resource_id))), 1, ${MOST_NAMED}) AS named,
        toUInt32(uniqExact(resource_id)) AS resources
      FROM (${query})
      GROUP BY day, reason
      ORDER BY day, metrics, reason`,
    params,
  };
  const missingData = new Map<string, string[]>();
  for (const { day, ...missing } of await readRows<{ day: string } & MissingMetric>(client, read, signal))
    missingData.set(day, [...(missingData.get(day) ?? []), sentence(missing)]);
  return missingData;
}

interface MissingMetric {
  readonly metrics: readonly string[];
  readonly reason: string;
  readonly named: readonly string[];
  readonly resources: number;
}

function sentence({ metrics, reason, named, resources }: MissingMetric): string {
  const more = resources > named.length ? ` and ${resources - named.length} more` : "";
  return `${metrics.join(", ")} of ${named.join(", ")}${more} could not be fetched: ${reason}`;
}

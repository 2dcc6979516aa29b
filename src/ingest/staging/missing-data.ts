/** What days lack, in words: a sentence for each cause, the same on each day that lacks the same. */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../store/clickhouse/sql-text.js";
import { stagedTable } from "../../store/clickhouse/staging.js";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";
import type { Ledger } from "../../store/ledger.js";
import type { StagedDays } from "./measured-facts.js";

/** Day → sentences; days that lack nothing are left out. */
export type MissingData = ReadonlyMap<string, readonly string[]>;

/** Resources that a sentence names; of more it says how many. */
const MOST_NAMED = 3;

/** Of staged days, by their gaps. */
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

/** In: a statement that gives rows `{day, metric, resource_id, reason}`. */
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
  const lacks = new Map<string, string[]>();
  for (const { day, ...lack } of await readRows<{ day: string } & StoredLack>(client, read, signal))
    lacks.set(day, [...(lacks.get(day) ?? []), sentence(lack)]);
  return lacks;
}

interface StoredLack {
  readonly metrics: readonly string[];
  readonly reason: string;
  readonly named: readonly string[];
  readonly resources: number;
}

function sentence({ metrics, reason, named, resources }: StoredLack): string {
  const more = resources > named.length ? ` and ${resources - named.length} more` : "";
  return `${metrics.join(", ")} of ${named.join(", ")}${more} could not be fetched: ${reason}`;
}

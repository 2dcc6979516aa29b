import { type ClickHouseClient, ClickHouseError } from "@clickhouse/client";
import pRetry from "p-retry";
import { filledDays } from "../store/clickhouse/partitions.js";
import { isoDay, stagedTable } from "../store/clickhouse/staging.js";
import { readRows } from "../store/clickhouse/statement.js";
import type { FactTable } from "../store/fact-tables.js";

/** Days whose attributions to topics change, in addition to days whose chargebacks do. */
export interface AttributionDays {
  /** What was staged replaces what is visible. */
  readonly replaced: readonly string[];
  /** What is visible does not add up to the new bill and goes; nothing is staged in its place. */
  readonly withdrawn: readonly string[];
}

export const noAttributions: AttributionDays = { replaced: [], withdrawn: [] };

/** Chargebacks come right after the bill they add up to, and attributions right after them. */
const order = [
  "topic_usage",
  "topic_usage_gaps",
  "usage",
  "identity_sets",
  "usage_gaps",
  "billing",
  "chargebacks",
  "topic_attributions",
] as const satisfies readonly FactTable[];

/**
 * How long to wait for a store that dies, 15 s in total. Until it is back, a day whose replacement was interrupted may show both
 * versions.
 */
const RETRIES = { retries: 5, minTimeout: 500, factor: 2 } as const;

interface Swap {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  /** An abort stops nothing, but no store is waited for any more. */
  readonly signal: AbortSignal;
}

/**
 * Swaps the staged partitions of days in, with one statement per table, in which each day is replaced in one step. The swap can be
 * repeated, and is repeated while the store is away.
 *
 * A day that has rows now and none staged is also replaced, from nothing, rather than dropped. Every action names the staging
 * table, so that a holder that lost its lease after it was allowed to publish fails here, and removes nothing.
 */
export async function swapDays(
  { client, epoch, signal }: Swap,
  days: readonly string[],
  attributions: AttributionDays = noAttributions,
): Promise<void> {
  const isAway = (error: Error) => !(error instanceof ClickHouseError) && !signal.aborted;
  const patiently = <T>(step: () => Promise<T>) =>
    pRetry(step, { ...RETRIES, shouldRetry: ({ error }) => isAway(error) });
  const filled = await patiently(() =>
    filledDays(
      client,
      order.flatMap((table) => [table, stagedTable(table, epoch)]),
    ),
  );
  const settings = await patiently(() => replaceFromNothing(client));
  for (const table of order) {
    const staged = stagedTable(table, epoch);
    const concerned = daysOf(table, days, attributions).filter(
      (day) => filled.get(table)?.has(day) || filled.get(staged)?.has(day),
    );
    if (concerned.length === 0) continue;
    const actions = concerned.map((day) => `REPLACE PARTITION '${isoDay(day)}' FROM ${staged}`);
    const query = `ALTER TABLE ${table} ${actions.join(", ")}`;
    await patiently(() => client.command({ query, clickhouse_settings: settings }));
  }
}

function daysOf(
  table: FactTable,
  days: readonly string[],
  { replaced, withdrawn }: AttributionDays,
): readonly string[] {
  switch (table) {
    case "topic_usage":
    case "topic_usage_gaps":
      return replaced;
    case "topic_attributions":
      return [...replaced, ...withdrawn];
    default:
      return days;
  }
}

/** Servers that know this setting refuse to replace a partition from an empty one without it. Older servers do it anyway. */
async function replaceFromNothing(client: ClickHouseClient): Promise<Record<string, string>> {
  const name = "allow_replace_partition_from_empty_source";
  const query = "SELECT name FROM system.settings WHERE name = {name:String}";
  const known = await readRows(client, { query, params: { name } });
  return known.length > 0 ? { [name]: "1" } : {};
}

import { type ClickHouseClient, ClickHouseError } from "@clickhouse/client";
import pRetry from "p-retry";
import { filledDays, replaceDays } from "../clickhouse/partitions.js";
import { stagedTable } from "../clickhouse/staging.js";
import type { FactTable } from "../domain/fact-tables.js";
import { NEXT_BILLING, publishAtomically } from "../stores/facts/atomic-swap.js";

/** Days whose topic attributions change, in addition to days whose chargebacks do. */
export interface AttributionDays {
  /** Days whose staged attributions replace the visible ones. */
  readonly replaced: readonly string[];
  /** Days whose visible attributions do not add up to the new bill and are removed, with nothing staged instead. */
  readonly withdrawn: readonly string[];
}

export const noAttributions: AttributionDays = { replaced: [], withdrawn: [] };

/** Input that a day was calculated from besides its bill. It is swapped in first. */
const inputs = ["topic_usage", "topic_usage_gaps", "usage", "identity_sets", "usage_gaps"] as const;

/** How long to wait for a store that dies, 15 s in total. */
const RETRIES = { retries: 5, minTimeout: 500, factor: 2 } as const;

interface Swap {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  /** An abort does not stop the swap. It only ends waiting for an unreachable store. */
  readonly signal: AbortSignal;
}

/**
 * Swaps in the staged partitions of days. Readers see the bill and the chargebacks of the days change in one step, and
 * the attributions right after it. The swap can be repeated, and is repeated while the store is unreachable.
 *
 * A day with visible rows but no staged ones is also replaced by an empty partition, rather than dropped. Every action
 * names the staging table. So if a run lost its lease after it was allowed to publish, the swap fails here and removes
 * nothing.
 */
export async function swapDays(
  swap: Swap,
  days: readonly string[],
  attributions: AttributionDays = noAttributions,
): Promise<void> {
  const { signal } = swap;
  await pRetry(() => swapAll(swap, days, attributions), {
    ...RETRIES,
    shouldRetry: ({ error }) => !(error instanceof ClickHouseError) && !signal.aborted,
  });
}

async function swapAll(
  { client, epoch }: Swap,
  days: readonly string[],
  attributions: AttributionDays,
): Promise<void> {
  const tables: readonly FactTable[] = [...inputs, "billing", "chargebacks", "topic_attributions"];
  const filled = await filledDays(client, [
    NEXT_BILLING,
    ...tables.flatMap((table) => [table, stagedTable(table, epoch)]),
  ]);
  const swap = async (table: FactTable, into: string = table) => {
    const staged = stagedTable(table, epoch);
    const concerned = daysOf(table, days, attributions).filter(
      (day) => filled.get(into)?.has(day) || filled.get(staged)?.has(day),
    );
    await replaceDays(client, into, staged, concerned);
  };
  await swap("billing", NEXT_BILLING);
  for (const table of inputs) await swap(table);
  if (days.length === 0) return await swap("topic_attributions");
  await publishAtomically({ client, epoch }, days, {
    async chargebacks() {
      await swap("chargebacks");
      await swap("topic_attributions");
    },
    billing: () => swap("billing"),
  });
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

import { type ClickHouseClient, ClickHouseError } from "@clickhouse/client";
import pRetry from "p-retry";
import { filledDays, replaceDays } from "../store/clickhouse/partitions.js";
import { stagedTable } from "../store/clickhouse/staging.js";
import type { FactTable } from "../store/fact-tables.js";
import { NEXT_BILLING, publishAtomically } from "../store/facts/atomic-swap.js";

/** Days whose attributions to topics change, in addition to days whose chargebacks do. */
export interface AttributionDays {
  /** What was staged replaces what is visible. */
  readonly replaced: readonly string[];
  /** What is visible does not add up to the new bill and goes; nothing is staged in its place. */
  readonly withdrawn: readonly string[];
}

export const noAttributions: AttributionDays = { replaced: [], withdrawn: [] };

/** What a day was calculated from besides its bill. It is swapped in first. */
const inputs = ["topic_usage", "topic_usage_gaps", "usage", "identity_sets", "usage_gaps"] as const;

/** How long to wait for a store that dies, 15 s in total. */
const RETRIES = { retries: 5, minTimeout: 500, factor: 2 } as const;

interface Swap {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  /** An abort stops nothing, but no store is waited for any more. */
  readonly signal: AbortSignal;
}

/**
 * Swaps the staged partitions of days in. Readers see the bill and the chargebacks of the days change in one step, and the attributions
 * right after it. The swap can be repeated, and is repeated while the store is away.
 *
 * A day that has rows now and none staged is also replaced, from nothing, rather than dropped. Every action names the staging
 * table, so that a holder that lost its lease after it was allowed to publish fails here, and removes nothing.
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

import { runStatement } from "../postgres/statement.js";
import { checkFacts } from "../stores/facts/check-facts.js";
import type { OpenedStores } from "../stores/open-stores.js";

/** Includes all days. */
const keepFrom = { chargebacks: "1900-01-01", topic_attributions: "1900-01-01" };

/**
 * Finds published days that are missing from the store. The reconciliation cannot see them, because both their lines
 * and their rows are gone.
 */
export async function lostDays(
  { postgres, tenant }: Pick<OpenedStores, "postgres" | "tenant">,
  tenantName: string,
  signal: AbortSignal,
): Promise<string[]> {
  const { client, location } = await tenant(tenantName);
  const { storeId, knownStoreId, differing } = await checkFacts({
    client,
    postgres,
    tenantName,
    keepFrom,
    signal,
  });
  const recorded = await runStatement<{ day: string }>(postgres, {
    query: "SELECT tracking_date AS day FROM tracking_dates WHERE tenant_name = $1 AND lost_at IS NOT NULL",
    params: [tenantName],
  });
  const days = [...new Set([...differing, ...recorded.rows].map(({ day }) => day))].sort();
  const isOtherStore = knownStoreId !== null && storeId !== knownStoreId;
  return [
    ...(isOtherStore
      ? [`${tenantName}: its facts are in another store than this one, or were lost: ${location.name}.`]
      : []),
    ...(days.length === 0
      ? []
      : [
          `${tenantName}: ${days.length === 1 ? "1 published day is" : `${days.length} published days are`} not in the store as published, ` +
            `${days.length === 1 ? days[0] : `from ${days[0]} to ${days.at(-1)}`}; the next run recalculates those that it still gathers.`,
        ]),
  ];
}

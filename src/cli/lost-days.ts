import { checkFacts } from "../store/facts/check-facts.js";
import type { OpenedStores } from "../store/open-stores.js";
import { runStatement } from "../store/postgres/statement.js";

/** All days that there are. */
const keepFrom = { chargebacks: "1900-01-01", topic_attributions: "1900-01-01" };

/** What a proof cannot see, since the lines have gone as well as their rows: days that were published and are not in the store. */
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
  const noticed = await runStatement<{ day: string }>(postgres, {
    query: "SELECT tracking_date AS day FROM tracking_dates WHERE tenant_name = $1 AND lost_at IS NOT NULL",
    params: [tenantName],
  });
  const days = [...new Set([...differing, ...noticed.rows].map(({ day }) => day))].sort();
  const isOther = knownStoreId !== null && storeId !== knownStoreId;
  return [
    ...(isOther
      ? [`${tenantName}: its facts are in another store than this one, or were lost: ${location.name}.`]
      : []),
    ...(days.length === 0
      ? []
      : [
          `${tenantName}: ${days.length === 1 ? "1 published day is" : `${days.length} published days are`} not in the store as published, ` +
            `${days.length === 1 ? days[0] : `from ${days[0]} to ${days.at(-1)}`}; the next run calculates what it still gathers anew.`,
        ]),
  ];
}

/**
 * Decides which version of a day readers see. It publishes the bill and the chargebacks of days in one step, although
 * they are two tables. The days are announced first. From then on, the view `published_billing` shows the bill of such a
 * day from `next_billing` once the day's new chargebacks are there, and from `billing` before that. So replacing the
 * chargebacks is the step that readers see, and `billing` is updated after it, when no view reads these days from it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { filledDays, replaceDays, replaceRows } from "../../clickhouse/partitions.js";
import { dropStagedDays, type LeasedStore, stagedTable } from "../../clickhouse/staging.js";
import { readRows } from "../../clickhouse/statement.js";
import { rebuildSums } from "./sums.js";

/** Milliseconds between steps, so that a query that is taking its table snapshots cannot see both. */
const SNAPSHOT_MS = 100;

export const NEXT_BILLING = "next_billing";

/**
 * Publishes new chargebacks together with the bill that they add up to. Each step can be repeated. If the publish is
 * cut off, readers see either the old or the new version, and the announcement stays. `removed`: the days are removed,
 * even if something is staged for them.
 */
export async function publishAtomically(
  { client, epoch }: LeasedStore,
  days: readonly string[],
  steps: {
    readonly removed?: boolean;
    readonly chargebacks: () => Promise<void>;
    readonly billing: () => Promise<void>;
  },
): Promise<void> {
  await announce({ client, epoch }, days, steps.removed === true);
  await sleep(SNAPSHOT_MS);
  await steps.chargebacks();
  await Promise.all([sleep(SNAPSHOT_MS), rebuildSums({ client, epoch }, days)]);
  await steps.billing();
  await sleep(SNAPSHOT_MS);
  await announce({ client, epoch }, [], true);
}

/** Replaces the announcement. A day without staged chargebacks is announced as removed. */
async function announce(
  { client, epoch }: LeasedStore,
  days: readonly string[],
  removed: boolean,
): Promise<void> {
  const staged = stagedTable("publishing_days", epoch);
  await client.command({ query: `TRUNCATE TABLE ${staged} SYNC` });
  if (days.length > 0) {
    const revised = `
  UNION ALL
  SELECT day, any(toString(revision)), false FROM ${stagedTable("chargebacks", epoch)}
  WHERE day IN {days:Array(Date)} GROUP BY day`;
    await client.command({
      query: `
INSERT INTO ${staged} (day, revision, is_gone)
SELECT day, max(revision), min(is_gone) FROM (
  SELECT arrayJoin({days:Array(Date)}) AS day, '' AS revision, true AS is_gone${removed ? "" : revised}
)
GROUP BY day`,
      query_params: { days: [...days] },
    });
  }
  await replaceRows(client, "publishing_days", staged);
}

/**
 * Ends publishes that no run will finish: those that the store has announced but Postgres does not know, such as after
 * restoring a backup, and those of days that retention was removing. From then on readers see the bill from `billing`.
 */
export async function finishAbandonedSwap({ client, epoch }: LeasedStore): Promise<void> {
  const announced = await readRows<{ day: string; switched: boolean }>(client, {
    query: "SELECT day, day IN (SELECT day FROM switched_days) AS switched FROM publishing_days ORDER BY day",
    params: {},
  });
  if (announced.length === 0) return;
  const switched = announced.filter((row) => row.switched).map(({ day }) => day);
  const staged = stagedTable("billing", epoch);
  await replaceDays(client, staged, NEXT_BILLING, switched);
  await replaceDays(client, "billing", staged, switched);
  await dropStagedDays(client, epoch, switched, ["billing"]);
  await rebuildSums(
    { client, epoch },
    announced.map(({ day }) => day),
  );
  await sleep(SNAPSHOT_MS);
  await announce({ client, epoch }, [], true);
}

/** Drops bills from `next_billing` that `billing` has by now. Bills that are still staged are needed, and stay. */
export async function dropNextBills({ client, epoch }: LeasedStore): Promise<void> {
  const staged = stagedTable("billing", epoch);
  const filled = await filledDays(client, [NEXT_BILLING, staged]);
  const done = [...(filled.get(NEXT_BILLING) ?? [])].filter((day) => !filled.get(staged)?.has(day));
  if (done.length === 0) return;
  await sleep(SNAPSHOT_MS);
  // Replaces the days with nothing, through the staging table: if the lease is lost, that table is gone, and this
  // fails.
  await replaceDays(client, NEXT_BILLING, staged, done);
}

/**
 * How the bill and the chargebacks of days become visible in one step, although they are two tables. The days are announced: from then on
 * the view `published_billing` shows the bill of such a day from `next_billing` once its new chargebacks are there, and from `billing`
 * before. Replacing the chargebacks is then the step that readers see, and `billing` follows when nobody goes by it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { filledDays, replaceDays, replaceRows } from "../clickhouse/partitions.js";
import { dropStagedDays, type OwnedStoreAt, stagedTable } from "../clickhouse/staging.js";
import { readRows } from "../clickhouse/statement.js";
import { remakeSums } from "./sums.js";

/**
 * A read looks at one table after another when it begins, and keeps what it found. What it must not see together has to be this far
 * apart, in ms.
 */
const LOOK_MS = 100;

export const NEXT_BILLING = "next_billing";

/**
 * Shows new chargebacks and the bill that they add up to in one step. Every part can be run again; one that was cut off leaves the one
 * or the other version to readers, and the announcement. `gone`: the days are removed, whatever is staged of them.
 */
export async function publishAtomically(
  { client, epoch }: OwnedStoreAt,
  days: readonly string[],
  steps: {
    readonly gone?: boolean;
    readonly chargebacks: () => Promise<void>;
    readonly billing: () => Promise<void>;
  },
): Promise<void> {
  await announce({ client, epoch }, days, steps.gone === true);
  await sleep(LOOK_MS);
  await steps.chargebacks();
  await Promise.all([sleep(LOOK_MS), remakeSums({ client, epoch }, days)]);
  await steps.billing();
  await sleep(LOOK_MS);
  await announce({ client, epoch }, [], true);
}

/** In place of what was announced before. A day without staged chargebacks is announced as gone. */
async function announce(
  { client, epoch }: OwnedStoreAt,
  days: readonly string[],
  gone: boolean,
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
  SELECT arrayJoin({days:Array(Date)}) AS day, '' AS revision, true AS is_gone${gone ? "" : revised}
)
GROUP BY day`,
      query_params: { days: [...days] },
    });
  }
  await replaceRows(client, "publishing_days", staged);
}

/**
 * Ends what no run will finish: announcements of a publish that the store remembers and Postgres does not, as after a restored backup, and
 * of days that retention was removing. The bill that readers see becomes that of `billing`.
 */
export async function finishAbandonedSwap({ client, epoch }: OwnedStoreAt): Promise<void> {
  const announced = await readRows<{ day: string; switched: boolean }>(client, {
    query: "SELECT day, day IN (SELECT day FROM switched_days) AS switched FROM publishing_days ORDER BY day",
    params: {},
  });
  if (announced.length === 0) return;
  const switched = announced.filter((each) => each.switched).map(({ day }) => day);
  const staged = stagedTable("billing", epoch);
  await replaceDays(client, staged, NEXT_BILLING, switched);
  await replaceDays(client, "billing", staged, switched);
  await dropStagedDays(client, epoch, switched, ["billing"]);
  await remakeSums(
    { client, epoch },
    announced.map(({ day }) => day),
  );
  await sleep(LOOK_MS);
  await announce({ client, epoch }, [], true);
}

/** Forgets new bills that `billing` has by now. Those that are staged are still needed. */
export async function dropNextBills({ client, epoch }: OwnedStoreAt): Promise<void> {
  const staged = stagedTable("billing", epoch);
  const filled = await filledDays(client, [NEXT_BILLING, staged]);
  const done = [...(filled.get(NEXT_BILLING) ?? [])].filter((day) => !filled.get(staged)?.has(day));
  if (done.length === 0) return;
  await sleep(LOOK_MS);
  // From nothing, by the name of the staging table: whoever has lost the lease fails here.
  await replaceDays(client, NEXT_BILLING, staged, done);
}

import type { ClickHouseClient } from "@clickhouse/client";
import { filledDays } from "../clickhouse/partitions.js";
import { dropStagedDays, stagedTable } from "../clickhouse/staging.js";
import { readRows } from "../clickhouse/statement.js";
import { runStatement } from "../postgres/statement.js";
import type { Publication } from "./allocation-job.js";
import { chargebackLedger, type SplitLedger, topicLedger } from "./ledger.js";
import { outdatedAttributions, recordIntent, recordResult, recordStoreState } from "./publish.js";
import {
  cancelPublishing,
  type InterruptedDay,
  interruptedPublishing,
  WITHDRAWN,
} from "./sql/publishing-state.js";
import { swapDays } from "./swap-days.js";

export interface RolledForward {
  /** Days made visible, ascending. */
  readonly finished: readonly string[];
  /** Days without staged rows: they stay published as they are, and are recalculated when they are gathered again. */
  readonly lost: readonly string[];
}

/** Finishes publishes whose run died between intent and result. */
export async function rollForward(publication: Publication): Promise<RolledForward> {
  const { finished, lost } = await interruptedOf(publication, chargebackLedger);
  const attributions = await interruptedOf(publication, topicLedger);
  // Attributions to a bill that will not become visible are lost with it.
  const hasBill = (day: string) => !lost.includes(day);
  const replaced = attributions.finished.filter(hasBill);
  const lostAttributions = [
    ...attributions.lost,
    ...[...attributions.finished, ...attributions.withdrawn].filter((day) => !hasBill(day)),
  ];
  await forget(publication, chargebackLedger, lost);
  await forget(publication, topicLedger, lostAttributions);
  const withdrawn = [
    ...attributions.withdrawn.filter(hasBill),
    ...(await withdrawOutdated(
      publication,
      finished.filter((day) => !replaced.includes(day) && !attributions.withdrawn.includes(day)),
    )),
  ];
  await finish(publication, finished, { replaced, withdrawn });
  return {
    finished: daysOf(finished, replaced, withdrawn),
    lost: daysOf(lost, lostAttributions),
  };
}

function daysOf(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].sort();
}

/**
 * Removes visible attributions that do not match a bill that is about to become visible, and whose successor is lost.
 */
async function withdrawOutdated(publication: Publication, days: readonly string[]): Promise<string[]> {
  const withdrawn = await outdatedAttributions(publication, days);
  if (withdrawn.length === 0) return [];
  await dropStagedDays(publication.client, publication.epoch, withdrawn, ["topic_attributions"]);
  await recordIntent(publication, [], { replaced: [], withdrawn });
  return withdrawn;
}

interface Interrupted extends RolledForward {
  readonly withdrawn: readonly string[];
}

async function interruptedOf(publication: Publication, ledger: SplitLedger): Promise<Interrupted> {
  const { client, postgres, tenantName, epoch } = publication;
  const { rows } = await runStatement<InterruptedDay>(
    postgres,
    interruptedPublishing({ ledger, tenantName }),
  );
  if (rows.length === 0) return { finished: [], lost: [], withdrawn: [] };
  const isStaged = await stagedCompletely(client, epoch, ledger);
  const days = (wanted: (row: InterruptedDay) => boolean) => rows.filter(wanted).map(({ day }) => day);
  const isWithdrawn = (row: InterruptedDay) => row.publishing_hash === WITHDRAWN;
  return {
    finished: days((row) => !isWithdrawn(row) && isStaged(row)),
    lost: days((row) => !isWithdrawn(row) && !isStaged(row)),
    withdrawn: days(isWithdrawn),
  };
}

async function forget(
  { postgres, tenantName, epoch }: Publication,
  ledger: SplitLedger,
  days: readonly string[],
): Promise<void> {
  if (days.length > 0) await runStatement(postgres, cancelPublishing({ ledger, tenantName, epoch, days }));
}

async function finish(
  publication: Publication,
  days: readonly string[],
  { replaced, withdrawn }: { replaced: readonly string[]; withdrawn: readonly string[] },
): Promise<void> {
  if (days.length + replaced.length + withdrawn.length === 0) return;
  const { client } = publication;
  await swapDays(publication, days, { replaced, withdrawn });
  const counted = await withRows(client, chargebackLedger, days);
  const attributions = { replaced: await withRows(client, topicLedger, replaced), withdrawn };
  await recordStoreState(publication, counted, attributions);
  await recordResult(publication, counted, attributions);
}

/**
 * A day with a bill has staged lines and rows. If it has none, something removed them since the intent was recorded:
 * the store was restored or recreated. Swapping in nothing would then delete the day.
 */
async function stagedCompletely(
  client: ClickHouseClient,
  epoch: number,
  ledger: SplitLedger,
): Promise<(day: InterruptedDay) => boolean> {
  const tables = [stagedTable("billing", epoch), stagedTable(ledger.name, epoch)];
  const filled = await filledDays(client, tables);
  return ({ day, billing_lines }) =>
    billing_lines === 0 || tables.every((table) => filled.get(table)?.has(day));
}

/** Returns days with the number of their visible rows. */
async function withRows(client: ClickHouseClient, { name }: SplitLedger, days: readonly string[]) {
  if (days.length === 0) return [];
  const found = await readRows<{ day: string; n: number }>(client, {
    query: `SELECT day, count() AS n FROM ${name} WHERE day IN {days:Array(Date)} GROUP BY day`,
    params: { days },
  });
  const counts = new Map(found.map(({ day, n }) => [day, n]));
  return days.map((day) => ({ day, rows: counts.get(day) ?? 0 }));
}

import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool, PoolClient } from "pg";
import { LeaseLostError } from "../common/lease-lost.js";
import { type PgStatement, runStatement } from "../postgres/statement.js";
import { withTransaction } from "../postgres/transaction.js";
import { storeErrorText } from "../stores/error-text.js";
import { type RecordedDay, recordPublishedDays } from "../stores/facts/store-state.js";
import type { PublishLock } from "../stores/publish-lock.js";
import { chargebackLedger, type SplitLedger, topicLedger } from "./ledger.js";
import { finishAttribution } from "./sql/finish-attribution.js";
import { finishPublishing, type PublishedDay } from "./sql/finish-publishing.js";
import { type InterruptedDay, interruptedPublishing } from "./sql/interrupted-publishing.js";
import { beginPublishing, beginSettling, beginWithdrawing } from "./sql/publishing-state.js";
import { type AttributionDays, noAttributions, swapDays } from "./swap-days.js";

/**
 * Makes checked days visible in four steps, each of which can be repeated. Postgres records the intent (only for the
 * owner of the lease), ClickHouse swaps the day's partitions, ClickHouse records what it shows now, and Postgres
 * records the result. A crash in between leaves the intent and the staged partitions that it names, so the next run
 * rolls forward.
 */
export interface Publication {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly publishLock: PublishLock;
  readonly tenantName: string;
  readonly epoch: number;
  readonly signal: AbortSignal;
}

/**
 * A publish failed between intent and result, so some of the days may be visible. None of them may be calculated again
 * until the next run has rolled forward, because it rolls forward with the staged partitions.
 */
export class PublishInterruptedError extends Error {
  override readonly name = "PublishInterruptedError";
  constructor(
    readonly days: readonly string[],
    override readonly cause: unknown,
  ) {
    super(
      `publishing ${days.length} days was interrupted, the next run finishes it: ${storeErrorText(cause)}`,
    );
  }
}

/** Changes to topic attributions: days whose rows are replaced, and days whose rows are removed. */
export interface PublishedAttributions {
  readonly replaced: readonly PublishedDay[];
  readonly withdrawn: readonly string[];
}

const none: PublishedAttributions = { replaced: [], withdrawn: [] };

/** Publishes days that were calculated and checked: their chargebacks, their topic attributions, or both together. */
export async function publishDays(
  publication: Publication,
  days: readonly PublishedDay[],
  attributions = none,
): Promise<void> {
  if (days.length + attributions.replaced.length + attributions.withdrawn.length === 0) return;
  const intent = () => recordIntent(publication, namesOf(days), daysOf(attributions));
  await runSteps(publication, intent, days, attributions);
}

/** Publishes days of a ledger again as final. Their staged rows are marked as final already. */
export async function publishSettled(
  publication: Publication,
  ledger: SplitLedger,
  days: readonly PublishedDay[],
): Promise<void> {
  const { tenantName, epoch } = publication;
  const statement = beginSettling({ ledger, tenantName, epoch, days: namesOf(days) });
  const intent = () => runAll(publication, [{ days, statement }]);
  if (ledger.name === "chargebacks") await runSteps(publication, intent, days, none);
  else await runSteps(publication, intent, [], { replaced: days, withdrawn: [] });
}

/** Runs all steps, beginning with the intent. */
async function runSteps(
  publication: Publication,
  intent: () => Promise<void>,
  days: readonly PublishedDay[],
  attributions: PublishedAttributions,
): Promise<void> {
  const names = namesOf(days);
  const changes = daysOf(attributions);
  const { publishLock, signal } = publication;
  await publishLock.shared(async () => {
    await intent();
    // From here on the intent is recorded, and an abort has no effect: finish now, or leave it to the next run.
    try {
      await swapDays(publication, names, changes);
      await recordStoreState(publication, days, attributions);
      await recordResult(publication, days, attributions);
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      throw new PublishInterruptedError([...new Set([...names, ...changes.replaced])], error);
    }
  }, signal);
}

function namesOf(days: readonly PublishedDay[]): string[] {
  return days.map(({ day }) => day);
}

function daysOf({ replaced, withdrawn }: PublishedAttributions): AttributionDays {
  return { replaced: namesOf(replaced), withdrawn };
}

/** First step. Throws if the lease has been lost. */
export async function recordIntent(
  publication: Publication,
  days: readonly string[],
  { replaced, withdrawn } = noAttributions,
): Promise<void> {
  const { tenantName, epoch } = publication;
  await runAll(publication, [
    { days, statement: beginPublishing({ ledger: chargebackLedger, tenantName, epoch, days }) },
    {
      days: replaced,
      statement: beginPublishing({ ledger: topicLedger, tenantName, epoch, days: replaced }),
    },
    { days: withdrawn, statement: beginWithdrawing({ tenantName, epoch, days: withdrawn }) },
  ]);
}

/**
 * Third step: the store records what it shows of the days now. This distinguishes a store that was restored, replaced
 * or recreated from the one that Postgres knows.
 */
export async function recordStoreState(
  publication: Publication,
  days: readonly PublishedDay[],
  { replaced, withdrawn } = none,
): Promise<void> {
  const { client, epoch } = publication;
  const recorded = await publishingHashes(publication, chargebackLedger, days);
  await recordPublishedDays(client, { ledger: "chargebacks", epoch, days: recorded });
  const removed = withdrawn.map((day) => ({ day, hash: "", rows: 0 }));
  const attributed = await publishingHashes(publication, topicLedger, replaced);
  await recordPublishedDays(client, {
    ledger: "topic_attributions",
    epoch,
    days: [...attributed, ...removed],
  });
}

async function publishingHashes(
  { postgres, tenantName }: Publication,
  ledger: SplitLedger,
  days: readonly PublishedDay[],
): Promise<RecordedDay[]> {
  if (days.length === 0) return [];
  const { rows } = await runStatement<InterruptedDay>(
    postgres,
    interruptedPublishing({ ledger, tenantName }),
  );
  const hashes = new Map(rows.map((row) => [row.day, row.publishing_hash]));
  return days.map(({ day, rows }) => ({ day, hash: hashes.get(day) ?? "", rows }));
}

/**
 * Last step: the days count as published. Their staged rows are no longer needed, and are dropped when the run ends.
 */
export async function recordResult(
  publication: Publication,
  days: readonly PublishedDay[],
  { replaced, withdrawn } = none,
): Promise<void> {
  const { tenantName, epoch } = publication;
  const attributed = [...replaced, ...withdrawn.map((day) => ({ day, rows: 0 }))];
  await runAll(publication, [
    { days, statement: finishPublishing({ tenantName, epoch, days }) },
    { days: attributed, statement: finishAttribution({ tenantName, epoch, days: attributed }) },
  ]);
}

/** Runs statements that update each of their days once, all or none of them. Throws if a statement updates fewer. */
async function runAll(
  { postgres, epoch }: Publication,
  steps: readonly { readonly days: readonly unknown[]; readonly statement: PgStatement }[],
): Promise<void> {
  const run = async (client: Pool | PoolClient) => {
    for (const { days, statement } of needed) {
      const touched = await runStatement(client, statement);
      if (touched.rowCount !== days.length) throw new LeaseLostError(epoch);
    }
  };
  const needed = steps.filter(({ days }) => days.length > 0);
  if (needed.length === 1) await run(postgres);
  else await withTransaction(postgres, run);
}

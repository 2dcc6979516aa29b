import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool, PoolClient } from "pg";
import { filledDays } from "../clickhouse/partitions.js";
import { dropStagedDays } from "../clickhouse/staging.js";
import { readRows } from "../clickhouse/statement.js";
import { LeaseLostError } from "../common/lease-lost.js";
import { type PgStatement, runStatement } from "../postgres/statement.js";
import { withTransaction } from "../postgres/transaction.js";
import { errorText, storeErrorText } from "../stores/error-text.js";
import { type RecordedDay, recordPublishedDays } from "../stores/facts/store-state.js";
import { isStoreFault } from "../stores/store-trouble.js";
import type { LedgerDays, LedgerJob, Publication } from "./allocation-job.js";
import { deliveryChanges, type NewDeliveries } from "./delivery-changes.js";
import { recordDimensions } from "./dimensions.js";
import { chargebackLedger, type SplitLedger, topicLedger } from "./ledger.js";
import { checkPublishedAttributions, type DayCheck } from "./sql/check-conservation.js";
import { type DeliveryChange, insertDeliveryChanges } from "./sql/delivery-changes.js";
import {
  beginFinalizing,
  beginPublishing,
  beginWithdrawing,
  finishAttribution,
  finishPublishing,
  type InterruptedDay,
  interruptedPublishing,
  type PublishedDay,
} from "./sql/publishing-state.js";
import { type AttributionDays, noAttributions, swapDays } from "./swap-days.js";

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
interface PublishedAttributions {
  readonly replaced: readonly PublishedDay[];
  readonly withdrawn: readonly string[];
}

const none: PublishedAttributions = { replaced: [], withdrawn: [] };

/** Publishes days that were calculated and checked: their chargebacks, their topic attributions, or both together. */
export async function publishDays(
  publication: Publication,
  days: readonly PublishedDay[],
  attributions = none,
  changes: readonly DeliveryChange[] = [],
): Promise<void> {
  if (days.length + attributions.replaced.length + attributions.withdrawn.length === 0) return;
  const intent = () => recordIntent(publication, namesOf(days), daysOf(attributions), changes);
  await runSteps(publication, intent, days, attributions);
}

/** Publishes days of a ledger again as final. Their staged rows are marked as final already. */
export async function publishFinalized(
  publication: Publication,
  ledger: SplitLedger,
  days: readonly PublishedDay[],
): Promise<void> {
  const { tenantName, epoch } = publication;
  const statement = beginFinalizing({ ledger, tenantName, epoch, days: namesOf(days) });
  const intent = () => runAll(publication, [{ days, statement }]);
  if (ledger.name === "chargebacks") await runSteps(publication, intent, days, none);
  else await runSteps(publication, intent, [], { replaced: days, withdrawn: [] });
}

/**
 * Makes checked days visible in four steps, each of which can be repeated. Postgres records the intent (only for the
 * owner of the lease), ClickHouse swaps the day's partitions, ClickHouse records what it shows now, and Postgres
 * records the result. A crash in between leaves the intent and the staged partitions that it names, so the next run
 * rolls forward.
 */
async function runSteps(
  publication: Publication,
  intent: () => Promise<void>,
  days: readonly PublishedDay[],
  attributions: PublishedAttributions,
): Promise<void> {
  const names = namesOf(days);
  const changes = daysOf(attributions);
  const { backupLock, signal } = publication;
  await backupLock.shared(async () => {
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
  changes: readonly DeliveryChange[] = [],
): Promise<void> {
  const { tenantName, epoch } = publication;
  await runAll(publication, [
    { days, statement: beginPublishing({ ledger: chargebackLedger, tenantName, epoch, days }) },
    {
      days: replaced,
      statement: beginPublishing({ ledger: topicLedger, tenantName, epoch, days: replaced }),
    },
    { days: withdrawn, statement: beginWithdrawing({ tenantName, epoch, days: withdrawn }) },
    { days: changes, statement: insertDeliveryChanges(tenantName, changes) },
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

/**
 * Runs statements that write one row for each of their days or changes, all or none of them. Throws if a statement
 * writes fewer.
 */
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

/** Topic attributions that were calculated and wait to be published, by day. */
export type Attributed = ReadonlyMap<string, DayCheck>;

/**
 * Publishes days whose check succeeded, with the dimensions of their rows and their topic attributions. The same step
 * removes visible attributions that do not match the new bill and have no successor yet.
 */
export async function publishChecked(
  job: LedgerJob,
  checks: readonly DayCheck[],
  { attributed, newDeliveries }: { readonly attributed: Attributed; readonly newDeliveries: NewDeliveries },
): Promise<void> {
  const off = checks.find((check) => check.lines_off !== 0);
  if (off !== undefined)
    throw new RangeError(`${off.day} cannot be published: its chargebacks do not add up to its bill`);
  const [first] = checks;
  if (first === undefined) return;
  await job.onStage("publishing", first.day);
  const days = checks.map((check) => check.day);
  await recordDimensions(job, days);
  const replaced = days.flatMap((day) => attributed.get(day) ?? []);
  const withdrawn = await outdatedAttributions(
    job,
    days.filter((day) => !attributed.has(day)),
  );
  await dropStagedDays(job.client, job.epoch, withdrawn, ["topic_attributions"]);
  const changes = await deliveryChanges(job, days, newDeliveries);
  await publishDays(job, checks.map(withRows), { replaced: replaced.map(withRows), withdrawn }, changes);
  for (const check of checks) job.onPublished(check);
}

/** Publishes attributions of days whose chargebacks do not change. Throws only errors that end the run. */
export async function publishAttributions(job: LedgerDays, checks: readonly DayCheck[]): Promise<void> {
  const [first] = checks;
  if (first === undefined) return;
  await job.onStage("publishing", first.day);
  try {
    await publishDays(job, [], { replaced: checks.map(withRows), withdrawn: [] });
  } catch (error) {
    if (isRunOver(job, error)) throw error;
    const message = `attributions to topics could not be published: ${errorText(error)}`;
    for (const { day } of checks) job.onFailure(day, message, false);
  }
}

function withRows({ day, rows }: DayCheck) {
  return { day, rows };
}

/**
 * Returns whether the error ends the run: a lost lease, a lost or failing store, an abort, or a publish that only the
 * next run can finish. Other errors concern a single day.
 */
export function isRunOver(job: Pick<LedgerJob, "signal">, error: unknown): boolean {
  const isInterrupted = error instanceof LeaseLostError || error instanceof PublishInterruptedError;
  return job.signal.aborted || isInterrupted || isStoreFault(error);
}

/**
 * Returns days whose visible topic attributions do not add up to their staged bill. Costs nothing if there are none.
 */
export async function outdatedAttributions(
  scope: { readonly client: ClickHouseClient; readonly epoch: number; readonly signal: AbortSignal },
  days: readonly string[],
): Promise<string[]> {
  const { client, epoch, signal } = scope;
  if (days.length === 0) return [];
  const filled = (await filledDays(client, ["topic_attributions"], signal)).get("topic_attributions");
  const attributed = days.filter((day) => filled?.has(day));
  if (attributed.length === 0) return [];
  const statement = checkPublishedAttributions({ epoch, days: attributed });
  const checks = await readRows<DayCheck>(client, statement, signal);
  return checks.filter((check) => check.lines_off !== 0).map((check) => check.day);
}

/**
 * Gathers a window of whole days into the staging tables, and records which of its days wait to be calculated.
 *
 * The order makes a crash harmless at any point: first the days are marked as not staged, then their rows are dropped
 * and written again, and only when a day is complete is its hash recorded. A day without that hash is never published,
 * whatever is in the staging tables.
 */
import { dropStagedDays } from "../clickhouse/staging.js";
import { daysOfWindow } from "../common/days.js";
import { LeaseLostError } from "../common/lease-lost.js";
import { ledgers } from "../domain/ledger.js";
import { assignLines, unassignLines } from "./configured/assign-lines.js";
import { deriveWeights, dropDerived } from "./configured/derive-weights.js";
import { recordTotalsOfDays } from "./control/record-totals-of-days.js";
import { createDayStates, type DayStates } from "./day-states.js";
import { type GatheredWindow, gatherToStaging } from "./gather-to-staging.js";
import type { DayRemark } from "./reports.js";
import { noTopics, type StagedTopics, stageTopics } from "./stage-topics.js";
import type { StagedWindow, StageWindowOptions } from "./staged-window.js";
import { alignScales } from "./staging/align-scales.js";
import { dayContents } from "./staging/content-hash.js";
import { deriveMetricSets } from "./staging/derive-sets.js";
import { dropStandIns } from "./staging/drop-stand-ins.js";
import { withEarlierDays } from "./staging/earlier-days.js";
import { keepMeasuredUsage } from "./staging/keep-published/keep-measured-usage.js";
import { keepPublishedBills } from "./staging/keep-published/keep-published-bills.js";
import { type MissingData, readMissingData } from "./staging/missing-data.js";
import { type DayVerdict, recordGathered } from "./staging/record-gathered.js";
import type { SinkFindings } from "./staging/staging-sink.js";
import { recordGathering, unchangedWindow, warnOfDropped } from "./unchanged-window.js";

/**
 * Throws what the gatherer or a store throws. Then nothing of the window is newly staged. Days that were already
 * waiting still wait if the gatherer failed before it sent a batch, as it does if the upstream is down.
 */
export async function stageWindow(options: StageWindowOptions): Promise<StagedWindow> {
  return (await unchangedWindow(options)) ?? (await stageGathered(options));
}

async function stageGathered(options: StageWindowOptions): Promise<StagedWindow> {
  const days = daysOfWindow(options.window);
  const states = createDayStates(days);
  const gathered = await gatherToStaging(options, days);
  states.set(gathered.taken, "measured");
  const bills = await keepPublishedBills(options, gathered.report, states);
  const incomplete = states.in("incomplete", "less_than_published", "suspicious");
  const measured = states.in("measured");
  await dropStagedDays(options.store.client, options.epoch, incomplete);
  const keptUsage = await completeUsage(options, states);
  await applyConfiguration(options, states, gathered.findings);
  const { contents, verdicts, topics } = await recordStaged(options, gathered, states);

  const { report, findings } = gathered;
  const result: StagedWindow = {
    staged: withVerdict(verdicts, "staged"),
    unchanged: withVerdict(verdicts, "unchanged"),
    empty: withVerdict(verdicts, "empty"),
    incomplete,
    billingLines: findings.counts.billing,
    usageFacts: findings.counts.usage,
    dropped: summed(report.dropped, findings.dropped, topics.dropped),
    errors: [
      ...report.errors,
      ...[...findings.incompleteDays].map(([day, reason]) => `${day}: ${reason}`),
      ...bills.errors,
      ...topics.errors,
    ],
    kept: [
      ...keptOf(keptUsage, "the usage that is published stays"),
      ...keptOf(bills.missingData, "the bill that is published stays"),
      ...keptOf(topics.kept, "the usage of topics that is published stays"),
    ],
    refused: report.refused,
    notes: [
      ...(report.notes ?? []),
      ...(report.dayNotes ?? []).filter(({ day }) => measured.includes(day)).map(({ remark }) => remark),
      ...bills.notes,
    ],
  };
  warnOfDropped(options, result.dropped);
  await recordTotalsOfDays(
    options.postgres,
    { tenantName: options.store.tenantName, taken: measured, kept: states.in("restored") },
    report.control,
  );
  await recordGathering(options, { report, contents, topics, result });
  return result;
}

/**
 * Completes the usage of measured days: keeps published usage where metrics failed, drops stand-ins that are not
 * needed, gives equal scales to a metric's samples, and derives sets of active identities. Returns the missing data for
 * which published usage stays.
 */
async function completeUsage(options: StageWindowOptions, states: DayStates): Promise<MissingData> {
  const { store, epoch, rulesHash, signal } = options;
  const { derivingMetrics: metrics, unknownOwnersAreActive = false } = options;
  const { client } = store;
  const staged = { epoch, days: states.in("measured") };
  const facts = { ledger: ledgers.chargebacks, rulesHash };
  const kept = await keepMeasuredUsage(client, staged, facts, signal);
  await dropStandIns(client, staged, options.standIns ?? [], signal);
  await alignScales(client, staged, facts, signal);
  await deriveMetricSets(client, { ...staged, metrics, unknownOwnersAreActive }, signal);
  return kept;
}

/**
 * Records the hashes of the staged days and stages their topics. Rows of days that need no calculation are dropped.
 */
async function recordStaged(
  options: StageWindowOptions,
  { before, report }: GatheredWindow,
  states: DayStates,
) {
  const { store, postgres, epoch, decimalPlaces, inventoryLacks, retryLimit } = options;
  const { inputRulesHash: rulesHash = options.rulesHash } = options;
  const { force = false, signal } = options;
  const { client, tenantName } = store;
  const days = states.in("measured", "restored");
  const lacks = await missingDataOfDays(options, days);
  const ownContents = await dayContents(client, epoch, { days, rulesHash, decimalPlaces, lacks }, signal);
  const contents = await withEarlierDays(ownContents, options);
  const verdicts = await recordGathered(postgres, {
    tenantName,
    epoch,
    contents,
    stagedBefore: before.chargebacks,
    inventoryComplete: inventoryLacks.length === 0,
    retryLimit,
    force,
    read: { deliveries: report.deliveries, days: states.in("measured") },
  });
  if (verdicts === undefined) throw new LeaseLostError(epoch);
  const unbilled = contents.filter(({ billingLines }) => billingLines === 0).map(({ day }) => day);
  const topics = await stageTopicsOf(options, days, before.attributions);
  const waiting = new Set([...withVerdict(verdicts, "staged"), ...topics.waiting]);
  await dropStagedDays(
    client,
    epoch,
    days.filter((day) => !waiting.has(day) || unbilled.includes(day)),
  );
  return { contents, verdicts, topics };
}

/** Applies configured rules to the staged days. Restored days have derived facts that are published already. */
async function applyConfiguration(
  { store: { client }, epoch, allocation, signal }: StageWindowOptions,
  states: DayStates,
  { counts }: SinkFindings,
): Promise<void> {
  const staged = { client, epoch, days: states.in("measured", "restored"), signal };
  const restored = { ...staged, days: states.in("restored") };
  await dropDerived(restored);
  if (allocation === undefined) return await unassignLines(restored);
  await assignLines(counts.selected === counts.billing ? restored : staged, allocation);
  await deriveWeights(staged, allocation);
}

async function stageTopicsOf(
  { store, topics, force = false, ...options }: StageWindowOptions,
  days: readonly string[],
  stagedBefore: ReadonlyMap<string, string>,
): Promise<StagedTopics> {
  if (topics === undefined) return noTopics;
  const { client, tenantName } = store;
  const staged = await stageTopics({ ...options, client, tenantName, topics, days, stagedBefore, force });
  if (staged === undefined) throw new LeaseLostError(options.epoch);
  return staged;
}

/** Reports missing data of days that stay as they are published, even if it does no harm. */
function keptOf(kept: MissingData, what: string): DayRemark[] {
  return [...kept].flatMap(([day, missingData]) =>
    missingData.map((sentence) => ({ day, remark: `${sentence}: ${what}` })),
  );
}

async function missingDataOfDays(
  { store, epoch, inventoryLacks, signal }: StageWindowOptions,
  days: readonly string[],
): Promise<MissingData> {
  const inventorySentences = inventoryLacks.map((sentence) => `the inventory is incomplete: ${sentence}`);
  const metricSentences = await readMissingData(store.client, { epoch, days }, ledgers.chargebacks, signal);
  return new Map(days.map((day) => [day, [...inventorySentences, ...(metricSentences.get(day) ?? [])]]));
}

function withVerdict(verdicts: ReadonlyMap<string, DayVerdict>, wanted: DayVerdict): string[] {
  return [...verdicts].filter(([, verdict]) => verdict === wanted).map(([day]) => day);
}

function summed(...counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const [reason, count] of counts.flatMap((each) => Object.entries(each))) {
    total[reason] = (total[reason] ?? 0) + count;
  }
  return total;
}

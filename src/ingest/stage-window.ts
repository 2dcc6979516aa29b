/**
 * Gathers a window of whole days into the staging tables, and records which of its days wait to be calculated.
 *
 * The order makes a crash harmless at any point: first the days are marked as not staged, then their rows are dropped
 * and written again, and only when a day is complete is its hash recorded. A day without that hash is never published,
 * whatever is in the staging tables.
 */
import { dropStagedDays } from "../clickhouse/staging.js";
import { daysInWords, daysOfWindow } from "../common/days.js";
import { LeaseLostError } from "../common/lease-lost.js";
import { ledgers } from "../domain/ledger.js";
import { UpstreamError } from "../upstream/http/upstream-error.js";
import { assignLines, unassignLines } from "./configured/assign-lines.js";
import { deriveWeights, dropDerived } from "./configured/derive-weights.js";
import { daysThatDiffer } from "./control/check-staged-bill.js";
import { recordTotalsOfDays } from "./control/record-totals-of-days.js";
import type { DayRemark, WindowReport } from "./reports.js";
import { noTopics, type StagedTopics, stageTopics } from "./stage-topics.js";
import type { StagedWindow, StageWindowOptions } from "./staged-window.js";
import { alignScales } from "./staging/align-scales.js";
import { dayContents } from "./staging/content-hash.js";
import { deriveMetricSets } from "./staging/derive-sets.js";
import { dropStandIns } from "./staging/drop-stand-ins.js";
import { forgetStaged } from "./staging/forget-staged.js";
import { keepDroppedUsage } from "./staging/keep-published/keep-dropped-usage.js";
import { daysWithFullerBill } from "./staging/keep-published/keep-fuller-bill.js";
import { keepMeasuredUsage } from "./staging/keep-published/keep-measured-usage.js";
import { keepPricedDays } from "./staging/keep-published/keep-priced-days.js";
import { type MissingData, readMissingData } from "./staging/missing-data.js";
import { type DayVerdict, recordGathered } from "./staging/record-gathered.js";
import { createStagingSink, EVERY_DAY, type SinkFindings } from "./staging/staging-sink.js";
import { createStagingWriter } from "./staging/staging-writer.js";
import { holdSuspiciousBills } from "./staging/suspicious-bills.js";
import { recordGathering, unchangedWindow, warnOfDropped } from "./unchanged-window.js";

/**
 * Throws what the gatherer or a store throws. Then nothing of the window is newly staged. Days that were already
 * waiting still wait if the gatherer failed before it sent a batch, as it does if the upstream is down.
 */
export async function stageWindow(options: StageWindowOptions): Promise<StagedWindow> {
  return (await unchangedWindow(options)) ?? (await stageGathered(options));
}

async function stageGathered(options: StageWindowOptions): Promise<StagedWindow> {
  const { store, postgres, epoch, window, signal } = options;
  const { client, tenantName } = store;
  const days = daysOfWindow(window);
  const { report, findings, before } = await gatherToStaging(options, days);
  await checkStagedBill(options, days, report, findings);
  const taken = takenDays(days, report, findings);
  const partial = partialOf(taken, report);
  const unread = partial.filter((day) => report.unreadDays?.includes(day));
  const withFullerBill = await daysWithFullerBill(
    client,
    { epoch, days: partial },
    options.force === true ? [] : unread, // with `--force`, accept a smaller bill
    signal,
  );
  const whole = taken.filter((day) => !withFullerBill.includes(day));
  const repriced = await keepDropped(options, whole);
  const suspicious = await holdSuspiciousBills(
    { ...options, client, tenantName, days: whole, force: options.force ?? false },
    signal,
  );
  const complete = whole.filter((day) => !suspicious.held.includes(day));
  const incomplete = days.filter((day) => !complete.includes(day));
  const missingOfFullerBills = await readMissingData(
    client,
    { epoch, days: withFullerBill },
    ledgers.chargebacks,
    signal,
  );
  await dropStagedDays(client, epoch, incomplete);
  const measured = complete.filter((day) => !repriced.includes(day));
  const kept = await keepMeasuredUsage(
    client,
    { epoch, days: measured },
    { ledger: ledgers.chargebacks, rulesHash: options.rulesHash },
    signal,
  );
  await dropStandIns(client, { epoch, days: measured }, options.standIns ?? [], signal);
  await alignScales(
    client,
    { epoch, days: measured },
    { ledger: ledgers.chargebacks, rulesHash: options.rulesHash },
    signal,
  );
  const { derivingMetrics: metrics, unknownOwnersAreActive = false } = options;
  await deriveMetricSets(client, { epoch, days: measured, metrics, unknownOwnersAreActive }, signal);
  await applyConfiguration(options, complete, repriced);

  const { rulesHash, decimalPlaces, inventoryLacks, retryLimit, force = false } = options;
  const missingData = await missingDataOfDays(options, complete);
  const contents = await dayContents(
    client,
    epoch,
    { days: complete, rulesHash, decimalPlaces, lacks: missingData },
    signal,
  );
  const verdicts = await recordGathered(postgres, {
    tenantName,
    epoch,
    contents,
    stagedBefore: before.chargebacks,
    inventoryComplete: inventoryLacks.length === 0,
    retryLimit,
    force,
  });
  if (verdicts === undefined) throw new LeaseLostError(epoch);
  const staged = withVerdict(verdicts, "staged");
  const unbilled = contents.filter(({ billingLines }) => billingLines === 0).map(({ day }) => day);
  const topics = await stageTopicsOf(options, complete, before.attributions);
  const waiting = new Set([...staged, ...topics.waiting]);
  const settled = complete.filter((day) => !waiting.has(day) || unbilled.includes(day));
  await dropStagedDays(client, epoch, settled);

  const result: StagedWindow = {
    staged,
    unchanged: withVerdict(verdicts, "unchanged"),
    empty: withVerdict(verdicts, "empty"),
    incomplete,
    billingLines: findings.counts.billing,
    usageFacts: findings.counts.usage,
    dropped: summed(report.dropped, findings.dropped, topics.dropped),
    errors: [
      ...report.errors,
      ...[...findings.incompleteDays].map(([day, reason]) => `${day}: ${reason}`),
      ...keptDays(
        suspicious.held,
        "the bill has lost most of its amount",
        "bill",
        " until the next run gets the same bill",
      ),
      ...keptDays(
        withFullerBill.filter((day) => unread.includes(day)),
        "the bill has lines that cannot be read",
        "bill",
      ),
      ...topics.errors,
    ],
    kept: [
      ...keptOf(kept, "the usage that is published stays"),
      ...keptOf(missingOfFullerBills, "the bill that is published stays"),
      ...keptOf(topics.kept, "the usage of topics that is published stays"),
    ],
    refused: report.refused,
    notes: [
      ...(report.notes ?? []),
      ...(report.dayNotes ?? []).filter(({ day }) => measured.includes(day)).map(({ remark }) => remark),
      ...lostNote(suspicious.confirmed),
    ],
  };
  warnOfDropped(options, result.dropped);
  await recordTotalsOfDays(postgres, { tenantName, taken: measured, kept: repriced }, report.control);
  await recordGathering(options, { report, contents, topics, result });
  return result;
}

/**
 * Marks days as incomplete if their staged lines do not add up to the rows of the bill. They stay as they are
 * published.
 */
async function checkStagedBill(
  { store: { client }, epoch, signal }: StageWindowOptions,
  days: readonly string[],
  { billed }: WindowReport,
  { incompleteDays }: SinkFindings,
): Promise<void> {
  if (billed === undefined) return;
  for (const [day, reason] of await daysThatDiffer(client, { epoch, days }, billed, signal))
    if (!incompleteDays.has(day)) incompleteDays.set(day, reason);
}

/** Applies configured rules to the staged days. `repriced`: days that are staged as they are published. */
async function applyConfiguration(
  { store: { client }, epoch, allocation, signal }: StageWindowOptions,
  days: readonly string[],
  repriced: readonly string[],
): Promise<void> {
  const staged = { client, epoch, days, signal };
  const restored = { ...staged, days: days.filter((day) => repriced.includes(day)) };
  await dropDerived(restored);
  if (allocation === undefined) return await unassignLines(restored);
  await assignLines(staged, allocation);
  await deriveWeights(staged, allocation);
}

/**
 * Gathers the window. Earlier staged rows of it are dropped when the first rows come, or at the end of a gathering
 * without rows. If the upstream fails the window as a whole, the control totals show what was requested.
 */
async function gatherToStaging(
  { store, postgres, epoch, gatherer, window, signal }: StageWindowOptions,
  days: readonly string[],
) {
  const { client, tenantName, tenantId, ecosystem } = store;
  let before: StagedBefore = { chargebacks: new Map(), attributions: new Map() };
  const prepare = async () => {
    const chargebacks = await forgetStaged(postgres, ledgers.chargebacks, tenantName, epoch, window);
    const attributions = await forgetStaged(postgres, ledgers.topic_attributions, tenantName, epoch, window);
    if (chargebacks === undefined || attributions === undefined) throw new LeaseLostError(epoch);
    before = { chargebacks, attributions };
    await dropStagedDays(client, epoch, days);
  };
  const writer = createStagingWriter({ client, epoch, prepare, signal });
  const sink = createStagingSink({ window, ecosystem, tenantId, writer });
  const report = await gatherer.gatherWindow(window, sink, signal).catch(async (error) => {
    if (error instanceof UpstreamError && !signal.aborted) {
      const totals = gatherer.totalsOfFailedWindow?.(window);
      // If Postgres is unreachable as well, the error of the gatherer is the one to report.
      await recordTotalsOfDays(postgres, { tenantName, taken: [], kept: [] }, totals).catch(() => undefined);
    }
    throw error;
  });
  await sink.finish();
  return { report, findings: sink.findings, before };
}

/** Hashes of what was staged of days before this gathering. */
interface StagedBefore {
  readonly chargebacks: ReadonlyMap<string, string>;
  readonly attributions: ReadonlyMap<string, string>;
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

function lostNote({ length }: readonly string[]): string[] {
  if (length === 0) return [];
  const days = length === 1 ? "1 published day" : `${length} published days`;
  return [
    `the bill of ${days} has lost most of its amount, and a second run got the same bill: it is published`,
  ];
}

function keptDays(days: readonly string[], failure: string, kept: string, until = ""): string[] {
  if (days.length === 0) return [];
  return [`${failure} for ${daysInWords(days)}: the ${kept} that is published stays${until}`];
}

/**
 * Keeps published data whose samples the upstream has dropped since then. Returns the days that are staged exactly as
 * they are published.
 */
async function keepDropped(options: StageWindowOptions, days: readonly string[]): Promise<readonly string[]> {
  const { store, epoch, gatherer, window, signal, logger } = options;
  const { client, tenantName } = store;
  const retentionCovers = gatherer.retentionCovers?.bind(gatherer);
  if (retentionCovers === undefined) return [];
  const priced = await keepPricedDays(client, { epoch, days }, retentionCovers, signal);
  const others = days.filter((day) => !priced.includes(day));
  const facts = { ledger: ledgers.chargebacks };
  const measured = await keepDroppedUsage(
    client,
    { epoch, days: others },
    { facts, retentionCovers },
    signal,
  );
  if (priced.length + measured.length > 0) {
    const kept = [...priced, ...measured].length;
    logger.info(
      { tenant: tenantName, window, days: kept },
      "samples that the upstream has dropped do not change published days",
    );
  }
  return priced;
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

/** Returns the days that were gathered as completely as possible. */
function takenDays(
  days: readonly string[],
  report: WindowReport,
  { incompleteDays }: SinkFindings,
): string[] {
  if (incompleteDays.has(EVERY_DAY)) return [];
  const reported = new Set([...report.completeDays, ...(report.partialDays ?? [])]);
  return days.filter((day) => reported.has(day) && !incompleteDays.has(day));
}

function partialOf(taken: readonly string[], { partialDays = [] }: WindowReport): string[] {
  return taken.filter((day) => partialDays.includes(day));
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

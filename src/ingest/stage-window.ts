/**
 * Gathers a window of whole days into the staging tables, and records which of its days wait to be calculated.
 *
 * The order makes a crash harmless at any point: first it is forgotten that the days are staged, then their rows are
 * dropped and written anew, and only when a day is complete is its hash recorded. A day without that hash is never
 * published, whatever lies in the staging tables.
 */
import type { Pool } from "pg";
import type { Logger } from "pino";
import { dropStagedDays } from "../store/clickhouse/staging.js";
import type { TenantStore } from "../store/stores.js";
import { daysOfWindow } from "./day-window.js";
import type { DayWindow, Gatherer, WindowReport } from "./ecosystem.js";
import { rememberGathered, unchangedWindow, warnOfDropped } from "./same-window.js";
import { noTopics, type StagedTopics, stageTopics, type TopicStaging } from "./stage-topics.js";
import { dayContents } from "./staging/content-hash.js";
import { deriveMetricSets } from "./staging/derive-sets.js";
import { forgetStaged } from "./staging/forget-staged.js";
import { fullerPublished } from "./staging/fuller-published.js";
import { identityFacts, keepMeasuredUsage } from "./staging/keep-measured.js";
import { type DayVerdict, recordGathered } from "./staging/record-gathered.js";
import { createStagingSink, EVERY_DAY, type SinkFindings } from "./staging/staging-sink.js";
import { createStagingWriter } from "./staging/staging-writer.js";

export interface StageWindowOptions {
  readonly store: TenantStore;
  readonly postgres: Pool;
  /** Of the lease that is held; names the staging tables. */
  readonly epoch: number;
  readonly gatherer: Gatherer;
  /** At most `gatherer.daysPerWindow` days. */
  readonly window: DayWindow;
  readonly rulesHash: string;
  readonly decimalPlaces: number;
  /** `Ecosystem.derivingMetrics` of the tenant. */
  readonly derivingMetrics: readonly string[];
  /** Whether this run gathered resources and identities completely. */
  readonly inventoryComplete: boolean;
  /** Left out where costs are not attributed to topics. */
  readonly topics?: TopicStaging | undefined;
  /** Stage also the days whose input has not changed. Default false. */
  readonly force?: boolean;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

export interface StagedWindow {
  /** Days that wait to be calculated, ascending. */
  readonly staged: readonly string[];
  /** Days whose published rows were calculated from the same input. */
  readonly unchanged: readonly string[];
  /** Days that nothing was billed on, now or before. */
  readonly empty: readonly string[];
  /** Days that could not be gathered: they keep what they had. */
  readonly incomplete: readonly string[];
  readonly billingLines: number;
  readonly usageFacts: number;
  /** Records that were not taken, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** One sentence for each day or source that is incomplete. */
  readonly errors: readonly string[];
}

/** The lease of the epoch has gone to another holder; what is staged is its now. */
export class StagingLost extends Error {
  override readonly name = "StagingLost";
  constructor(tenantName: string, epoch: number) {
    super(`tenant ${tenantName}: the lease with epoch ${epoch} is no longer held`);
  }
}

/**
 * Throws what the gatherer or a store throws. Nothing of the window is then newly staged; days that waited from before still
 * do when the gatherer failed before it sent a batch, as one does whose upstream is down.
 */
export async function stageWindow(options: StageWindowOptions): Promise<StagedWindow> {
  return (await unchangedWindow(options)) ?? (await stageGathered(options));
}

async function stageGathered(options: StageWindowOptions): Promise<StagedWindow> {
  const { store, postgres, epoch, window, signal } = options;
  const { client, tenantName } = store;
  const days = daysOfWindow(window);
  const { report, findings, before } = await gatherToStaging(options, days);
  const taken = takenDays(days, report, findings);
  const fuller = await fullerPublished(client, { epoch, days: partialOf(taken, report) }, signal);
  const complete = taken.filter((day) => !fuller.includes(day));
  const incomplete = days.filter((day) => !complete.includes(day));
  await dropStagedDays(client, epoch, incomplete);
  const kept = await keepMeasuredUsage(client, { epoch, days: complete }, identityFacts, signal);
  await deriveMetricSets(client, { epoch, days: complete, metrics: options.derivingMetrics }, signal);

  const { rulesHash, decimalPlaces, inventoryComplete, force = false } = options;
  const contents = await dayContents(client, epoch, { days: complete, rulesHash, decimalPlaces }, signal);
  const verdicts = await recordGathered(postgres, {
    tenantName,
    epoch,
    contents,
    stagedBefore: before.chargebacks,
    inventoryComplete,
    force,
  });
  if (verdicts === undefined) throw new StagingLost(tenantName, epoch);
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
      ...[...findings.spoiledDays].map(([day, reason]) => `${day}: ${reason}`),
      ...keptDays(kept, "usage metrics could not be fetched", "usage"),
      ...keptDays(fuller, "the bill lacks lines", "bill"),
      ...topics.errors,
      ...keptDays(topics.kept, "metrics of topics could not be fetched", "usage of topics"),
    ],
  };
  warnOfDropped(options, result.dropped);
  await rememberGathered(options, { report, contents, topics, result });
  return result;
}

/** What was staged of the window before goes when the first rows come, or at the end of a gathering without any. */
async function gatherToStaging(
  { store, postgres, epoch, gatherer, window, signal }: StageWindowOptions,
  days: readonly string[],
) {
  const { client, tenantName, tenantId, ecosystem } = store;
  let before: StagedBefore = { chargebacks: new Map(), attributions: new Map() };
  const prepare = async () => {
    const chargebacks = await forgetStaged(postgres, "tracking_dates", tenantName, epoch, window);
    const attributions = await forgetStaged(postgres, "topic_attribution_dates", tenantName, epoch, window);
    if (chargebacks === undefined || attributions === undefined) throw new StagingLost(tenantName, epoch);
    before = { chargebacks, attributions };
    await dropStagedDays(client, epoch, days);
  };
  const writer = createStagingWriter({ client, epoch, prepare, signal });
  const sink = createStagingSink({ window, ecosystem, tenantId, writer });
  const report = await gatherer.gatherWindow(window, sink, signal);
  await writer.finish();
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
  if (staged === undefined) throw new StagingLost(tenantName, options.epoch);
  return staged;
}

/** An outage is reported also where it does no harm. */
function keptDays(days: readonly string[], failure: string, kept: string): string[] {
  const [first] = days;
  if (first === undefined) return [];
  const span = days.length === 1 ? first : `${days.length} days from ${first} to ${days.at(-1)}`;
  return [`${failure} for ${span}: the ${kept} that is published stays`];
}

/** Days that were gathered as completely as they can be. */
function takenDays(days: readonly string[], report: WindowReport, { spoiledDays }: SinkFindings): string[] {
  if (spoiledDays.has(EVERY_DAY)) return [];
  const reported = new Set([...report.completeDays, ...(report.partialDays ?? [])]);
  return days.filter((day) => reported.has(day) && !spoiledDays.has(day));
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

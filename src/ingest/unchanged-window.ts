/**
 * Skips a window that is published as it was gathered, if the upstream's responses are still the same: nothing is
 * staged, hashed or compared again.
 */
import { daysOfWindow } from "../common/days.js";
import { digestInWindow } from "../config/allocation/identity-map.js";
import type { WindowReport } from "./reports.js";
import type { StagedTopics } from "./stage-topics.js";
import type { StagedWindow, StageWindowOptions } from "./staged-window.js";
import type { DayContent } from "./staging/content-hash.js";
import {
  publishedAsGathered,
  recordWindow,
  type StoredWindow,
  settingsHash,
} from "./staging/gathered-windows.js";

/** Returns undefined if the window has to be gathered. */
export async function unchangedWindow(options: StageWindowOptions): Promise<StagedWindow | undefined> {
  const { postgres, gatherer, window, force = false, signal } = options;
  if (force || gatherer.isUnchanged === undefined) return undefined;
  const recorded = await publishedAsGathered(postgres, windowKey(options));
  if (recorded === undefined) return undefined;
  const { responses, days: unchanged } = recorded;
  const { completeTypes, ...outcome } = recorded.outcome;
  if (hasNewInventory(options, completeTypes)) return undefined;
  if (!(await gatherer.isUnchanged(window, responses, signal))) return undefined;
  warnOfDropped(options, outcome.dropped);
  const empty = daysOfWindow(window).filter((day) => !unchanged.includes(day));
  return { ...outcome, unchanged, empty, staged: [], incomplete: [], errors: [], kept: [], notes: [] };
}

/**
 * Returns true if the inventory now has something that was missing in the recorded gathering. `before`: the types that
 * were complete then.
 */
function hasNewInventory(
  { inventoryLacks, completeTypes }: StageWindowOptions,
  before: readonly string[] | undefined,
): boolean {
  if (before === undefined) return false;
  return inventoryLacks.length === 0 || completeTypes.some((type) => !before.includes(type));
}

export interface Gathering {
  readonly report: WindowReport;
  readonly contents: readonly DayContent[];
  readonly topics: StagedTopics;
  readonly result: StagedWindow;
}

/** Each run repeats each of these requests. */
const MOST_FAILURES = 100;

/**
 * Records a gathering if nothing of the bill was missing and nothing published was kept. Any other gathering deletes
 * the earlier record, because it is the last one. A list of the inventory or a metric that the upstream refuses may be
 * missing forever, so days that became final without it are left alone until it comes.
 */
export async function recordGathering(
  options: StageWindowOptions,
  { report, contents, topics, result }: Gathering,
): Promise<void> {
  if (options.gatherer.isUnchanged === undefined) return;
  const { incomplete, errors, kept, refused, dropped, billingLines, usageFacts } = result;
  const { inventoryLacks, completeTypes } = options;
  const failures = (report.failures ?? 0) + (topics.failures ?? 0);
  const isWhole = incomplete.length + errors.length + kept.length === 0 && refused === undefined;
  const isRecorded = report.responses !== undefined && isWhole && failures <= MOST_FAILURES;
  const gathered = {
    responses: { ofWindow: report.responses, ofTopics: topics.responses },
    outcome: { billingLines, usageFacts, dropped, ...(inventoryLacks.length > 0 && { completeTypes }) },
    contents,
    topicContents: topics.contents,
  };
  await recordWindow(options.postgres, windowKey(options), isRecorded ? gathered : undefined);
}

export function warnOfDropped(
  { store: { tenantName }, window, logger }: StageWindowOptions,
  dropped: Readonly<Record<string, number>>,
): void {
  if (Object.keys(dropped).length === 0) return;
  logger.warn({ tenant: tenantName, window, dropped }, "skipped records from the upstream");
}

function windowKey(options: StageWindowOptions): StoredWindow {
  const { store, window, settingsDigest, decimalPlaces, derivingMetrics, topics } = options;
  const { inputRulesHash = options.rulesHash } = options;
  const { allocation } = options;
  const { tenantName, tenantId, ecosystem } = store;
  const topicsFrom = topics && daysOfWindow(window).find((day) => day >= topics.from);
  const settings = [
    ecosystem,
    tenantId,
    settingsDigest,
    inputRulesHash,
    decimalPlaces,
    derivingMetrics,
    topicsFrom ?? null,
    topicsFrom === undefined ? null : (topics?.rulesHash ?? null),
    allocation?.linesDigest ?? null,
    [...(allocation?.maps ?? [])].map(([path, map]) => [path, digestInWindow(map, window)]),
    digestInWindow(allocation?.assigned?.map, window),
  ];
  return { tenantName, window, topicsFrom, settingsHash: settingsHash(settings) };
}

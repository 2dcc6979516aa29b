/** Loads what is new in the sources into the store, one delivery after the other. */
import { LeaseLostError } from "../../../../common/lease-lost.js";
import { runStatement } from "../../../../postgres/statement.js";
import { errorText } from "../../../../stores/error-text.js";
import { periodsOf } from "../load/summary.js";
import { compareBills } from "../overlaps/compare.js";
import { contentKey, scopeKey, settleOverlaps } from "../overlaps/settle.js";
import type { BillSource, Delivery, SourceListing } from "../sources/delivery.js";
import type { DeliveryStore, LoadSettings } from "./delivery-store.js";
import { knownFiles, withoutTwin } from "./duplicates.js";
import { expireOld, expiryOf } from "./expiry.js";
import { type LoadOutcome, loadDelivery, loadOutcome } from "./load-delivery.js";
import { dropUnrecorded, withoutLines } from "./partitions.js";
import { forgetLoading, type RecordedDelivery, recordedDeliveries, scopeOf } from "./records.js";
import { applyRelocations, isRecordOf, relocatedRecords } from "./relocated-deliveries.js";

export interface LoadReport {
  /** Sentences: a source that could not be listed, a delivery that could not be read or that waits for a person. */
  readonly errors: readonly string[];
  /** Sentences: what is not complete yet, and what is odd about deliveries. */
  readonly warnings: readonly string[];
  /** Sentences: a source without any bill. Before the first bill comes, that is not an error. */
  readonly notes: readonly string[];
}

export async function loadDeliveries(
  store: DeliveryStore,
  sources: readonly BillSource[],
  settings: LoadSettings,
  signal: AbortSignal,
): Promise<LoadReport> {
  const { client, postgres, backupLock, tenantName, epoch } = store;
  const configured = sources.map(({ name }) => name);
  const { recorded, withoutData } = await backupLock.shared(async () => {
    await runStatement(postgres, forgetLoading(tenantName, epoch));
    await recordPeriods(store, signal);
    const before = await recordedDeliveries(store);
    const recorded = (await expireOld(store, before, settings)) ? await recordedDeliveries(store) : before;
    const stored = recorded.filter(({ state }) => state !== "expired");
    await dropUnrecorded(client, new Set(stored.map(({ delivery_id }) => delivery_id)), signal);
    const outdated = await withoutTwin(store, recorded, configured);
    const lines = await withoutLines(client, stored, signal);
    return {
      recorded,
      withoutData: new Set([...lines, ...recorded.filter((each) => outdated.has(each.delivery_id))]),
    };
  }, signal);
  const report = { errors: [] as string[], warnings: [] as string[], notes: [] as string[] };
  const { errors, warnings, notes } = report;
  const listings = new Map<BillSource, SourceListing>();
  for (const source of sources) {
    await isolateSource(store, source, report, signal, async () => {
      const listing = await source.list(signal);
      listings.set(source, listing);
      const { deliveries, waiting, remarks, nothing } = listing;
      notes.push(...remarks.map((remark) => `${source.name}: ${remark}`));
      warnings.push(...waiting.map(({ name, reason }) => `${source.name}: ${name}: ${reason}`));
      const ofSource = recorded.filter((each) => each.source === source.name);
      if (nothing !== undefined) notes.push(`${source.name}: ${noBill(nothing, ofSource)}`);
      const moved = relocatedRecords(ofSource, listing);
      let held = false;
      const others: string[] = [];
      for (const delivery of deliveries) {
        warnings.push(...delivery.remarks.map((remark) => `${titleOf(delivery)}: ${remark}`));
        const known = { ofSource, moved, withoutData, configured };
        const outcome = await loadIfNew(store, delivery, known, settings, signal);
        if (outcome.state === "held") held = true;
        else if (outcome.state === "no_bill") others.push(`${titleOf(delivery)}: ${outcome.problem}`);
        else addOutcome(report, delivery, outcome);
      }
      // If all files of a source are something else, its `location` is probably wrong.
      const hasBill = others.length < deliveries.length + listing.pending.length;
      if (hasBill) notes.push(...others);
      else errors.push(...others);
      if (!held && moved.length === 0) return;
      const problem = await applyRelocations(store, source.name, listing, settings, signal);
      if (problem !== undefined) errors.push(`${source.name}: ${problem}`);
    });
  }
  await loadWithoutTwin(store, listings, { settings, configured, report }, signal);
  await compareOlder(store, configured, settings, signal);
  const counted = recorded.filter(({ state }) => state === "current");
  const run = {
    configured,
    counted: new Set(counted.map(({ delivery_id }) => delivery_id)),
    scopes: new Set(counted.map(scopeKey)),
    listed: listedOf(sources, listings),
  };
  const settled = await settleOverlaps(store, run, settings.overlaps, signal);
  errors.push(...settled.errors);
  notes.push(...settled.notes);
  for (const { source, scope, state, manifest_problems } of settled.recorded)
    if (state === "current" && configured.includes(source))
      errors.push(...manifest_problems.map((problem) => `${source} ${scope}: ${problem}`));
  return report;
}

function listedOf(
  sources: readonly BillSource[],
  listings: ReadonlyMap<BillSource, SourceListing>,
): Map<string, ReadonlySet<string> | undefined> {
  return new Map(
    sources.map((source) => {
      const deliveries = listings.get(source)?.deliveries;
      const keys = deliveries?.map((each) => contentKey({ scope: scopeOf(each), content_id: each.id }));
      return [source.name, keys && new Set(keys)];
    }),
  );
}

/** Loads deliveries again that left out a file because of a delivery that this run has replaced. */
async function loadWithoutTwin(
  store: DeliveryStore,
  listings: ReadonlyMap<BillSource, SourceListing>,
  {
    settings,
    configured,
    report,
  }: { settings: LoadSettings; configured: readonly string[]; report: Messages },
  signal: AbortSignal,
): Promise<void> {
  const recorded = await recordedDeliveries(store);
  const outdated = await withoutTwin(store, recorded, configured);
  if (outdated.size === 0) return;
  const withoutData = new Set(recorded.filter((each) => outdated.has(each.delivery_id)));
  for (const [source, { deliveries }] of listings)
    await isolateSource(store, source, report, signal, async () => {
      const ofSource = recorded.filter((each) => each.source === source.name);
      for (const delivery of deliveries) {
        if (!ofSource.some((each) => withoutData.has(each) && isRecordOf(each, delivery, settings.hash)))
          continue;
        const known = { ofSource, moved: [], withoutData, configured };
        addOutcome(report, delivery, await loadIfNew(store, delivery, known, settings, signal));
      }
    });
}

interface Messages {
  readonly errors: string[];
  readonly warnings: string[];
  readonly notes: string[];
}

function addOutcome({ errors, notes }: Messages, delivery: Delivery, outcome: LoadOutcome): void {
  // Overlaps are reported once all bills have been compared.
  if (outcome.state === "expired" || outcome.state === "undecided") return;
  if (outcome.state === "current") {
    notes.push(...(outcome.remarks ?? []).map((remark) => `${titleOf(delivery)}: ${remark}`));
    return;
  }
  const list = outcome.state === "superseded" ? notes : errors;
  list.push(`${titleOf(delivery)}: ${outcome.problem}`);
}

/**
 * Runs the work of one source. A source that is down does not affect the others; a store that is down or a lost lease
 * stops the run.
 */
async function isolateSource(
  { client }: DeliveryStore,
  { name }: BillSource,
  { errors }: Messages,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof LeaseLostError || !(await client.ping()).success) throw error;
    errors.push(`${name}: ${errorText(error)}`);
  }
}

/** Compares deliveries that were loaded by a version that did not compare, each with those before it. */
async function compareOlder(
  store: DeliveryStore,
  configured: readonly string[],
  { cost }: LoadSettings,
  signal: AbortSignal,
): Promise<void> {
  const withLines = (await recordedDeliveries(store))
    .filter(({ state, source }) => state === "current" && configured.includes(source))
    .map((each) => ({ ...each, lines: Number(each.lines ?? 0) }));
  for (const [at, record] of withLines.entries()) {
    if (record.shared_charges !== null) continue;
    const before = withLines.slice(0, at).filter((each) => scopeKey(each) !== scopeKey(record));
    const overlaps = await compareBills(store.client, record, before, cost, signal);
    await runStatement(store.postgres, {
      query: "UPDATE deliveries SET shared_charges = $2::jsonb WHERE delivery_id = $1",
      params: [record.delivery_id, JSON.stringify(overlaps)],
    });
  }
}

/** Records the periods of deliveries that were loaded by a version that did not record them. */
async function recordPeriods(store: DeliveryStore, signal: AbortSignal): Promise<void> {
  const unknown = (await recordedDeliveries(store)).filter(({ state, periods }) => {
    return periods === null && (state === "current" || state === "waiting_for_acceptance");
  });
  if (unknown.length === 0) return;
  const ids = unknown.map(({ delivery_id }) => delivery_id);
  const found = await periodsOf(store.client, ids, signal);
  for (const [id, periods] of found)
    await runStatement(store.postgres, {
      query: "UPDATE deliveries SET periods = $2::jsonb WHERE delivery_id = $1 AND periods IS NULL",
      params: [id, JSON.stringify(periods)],
    });
}

function noBill(nothing: string, recorded: readonly RecordedDelivery[]): string {
  const has = (wanted: RecordedDelivery["state"]) => recorded.some(({ state }) => state === wanted);
  if (has("current"))
    return `no bill is there any more: ${nothing}. The bills that were read before still count`;
  return has("expired")
    ? `no bill is there any more: ${nothing}. All bills that were read before are older than retention_days`
    : `no bill is there: ${nothing}. Check \`location\`, unless the first bill is still to come`;
}

interface Known {
  readonly ofSource: readonly RecordedDelivery[];
  readonly moved: readonly RecordedDelivery[];
  /**
   * Records of the source whose lines are missing: the store has lost them, or they were those of another file that no
   * longer counts.
   */
  readonly withoutData: ReadonlySet<RecordedDelivery>;
  /** Names of all configured sources. */
  readonly configured: readonly string[];
}

async function loadIfNew(
  store: DeliveryStore,
  delivery: Delivery,
  { ofSource, moved, withoutData, configured }: Known,
  settings: LoadSettings,
  signal: AbortSignal,
): Promise<LoadOutcome> {
  const same = ofSource.findLast((each) => isRecordOf(each, delivery, settings.hash));
  const isKeptAgain = same?.state === "expired" && expiryOf(same, settings) === undefined;
  const isWhole = same !== undefined && same.retired.length === 0;
  if (isWhole && !isKeptAgain && !withoutData.has(same)) return outcomeOf(same);
  const scope = scopeOf(delivery);
  const old = ofSource.filter((each) => each.state === "current" && each.scope === scope);
  const moving = moved.filter((each) => each.state === "current" && !old.includes(each));
  const ids = new Set(moved.map(({ delivery_id }) => delivery_id));
  const isReplaced = (each: RecordedDelivery) =>
    (each.source === delivery.source && each.scope === scope) || ids.has(each.delivery_id);
  const mayReplace = ofSource.filter(isReplaced);
  const known = await knownFiles(store, delivery, { configured, mayReplace });
  const beside = (await recordedDeliveries(store)).filter((each) => {
    const { state, waits_for, lines } = each;
    const mayCount =
      state === "current" ||
      state === "superseded" ||
      (state === "waiting_for_acceptance" && waits_for !== "moved");
    return mayCount && Number(lines ?? 0) > 0 && configured.includes(each.source) && !isReplaced(each);
  });
  return await loadDelivery(store, delivery, { old, moved: moving, known, others: beside }, settings, signal);
}

function outcomeOf({ state, problem, waits_for, replaces, lines }: RecordedDelivery): LoadOutcome {
  if (state === "current") return { state };
  if (state === "superseded" && Number(lines) > 0) return { state: "undecided", problem: problem ?? "" };
  if (state !== "waiting_for_acceptance") return { state, problem: problem ?? "" };
  // Older versions did not record why a delivery waits.
  const why = waits_for ?? (replaces.length > 0 ? "moved" : "shrunk");
  return loadOutcome({ problem, waits_for: why });
}

function titleOf({ source, billing_period, files }: Delivery): string {
  const what = billing_period ?? (files.length === 1 ? files[0]?.name : undefined);
  return what === undefined ? source : `${source} ${what}`;
}

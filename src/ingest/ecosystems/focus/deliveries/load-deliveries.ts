/** Brings what the sources deliver into the store: what is new of it, one delivery after the other. */

import { errorText } from "../../../../store/clickhouse/error-text.js";
import { LeaseLostError } from "../../../../store/lease-lost.js";
import { runStatement } from "../../../../store/postgres/statement.js";
import type { BillSource, Delivery } from "../sources/delivery.js";
import type { DeliveryStore, LoadSettings } from "./delivery-store.js";
import { expireOld, expiryOf } from "./expiry.js";
import { type LoadOutcome, loadDelivery } from "./load-delivery.js";
import { isRecordOf, movedRecords, settleMoved } from "./moved.js";
import { dropUnrecorded, withoutLines } from "./partitions.js";
import { forgetLoading, type RecordedDelivery, recordedDeliveries, scopeOf } from "./records.js";

export interface LoadReport {
  /** Sentences: a source that could not be listed, a delivery that could not be read or waits for a person. */
  readonly errors: readonly string[];
  /** Sentences: what is not complete yet, and what is odd about deliveries. */
  readonly warnings: readonly string[];
  /** Sentences: a source without any bill. Before the first bill comes, that is no error. */
  readonly notes: readonly string[];
}

export async function loadDeliveries(
  store: DeliveryStore,
  sources: readonly BillSource[],
  settings: LoadSettings,
  signal: AbortSignal,
): Promise<LoadReport> {
  const { client, postgres, gate, tenantName, epoch } = store;
  const { recorded, lost } = await gate.change(async () => {
    await runStatement(postgres, forgetLoading(tenantName, epoch));
    const before = await recordedDeliveries(store);
    const recorded = (await expireOld(store, before, settings)) ? await recordedDeliveries(store) : before;
    const stored = recorded.filter(({ state }) => state !== "expired");
    await dropUnrecorded(client, new Set(stored.map(({ delivery_id }) => delivery_id)), signal);
    return { recorded, lost: new Set(await withoutLines(client, stored, signal)) };
  }, signal);
  const errors: string[] = [];
  const warnings: string[] = [];
  const notes: string[] = [];
  for (const source of sources) {
    try {
      const listing = await source.list(signal);
      const { deliveries, waiting, remarks, nothing } = listing;
      notes.push(...remarks.map((remark) => `${source.name}: ${remark}`));
      warnings.push(...waiting.map(({ name, reason }) => `${source.name}: ${name}: ${reason}`));
      const ofSource = recorded.filter((each) => each.source === source.name);
      if (nothing !== undefined) notes.push(`${source.name}: ${noBill(nothing, ofSource)}`);
      const moved = movedRecords(ofSource, listing);
      let held = false;
      const others: string[] = [];
      for (const delivery of deliveries) {
        warnings.push(...delivery.remarks.map((remark) => `${titleOf(delivery)}: ${remark}`));
        const outcome = await loadIfNew(store, delivery, { ofSource, moved, lost }, settings, signal);
        if (outcome.state === "held") held = true;
        else if (outcome.state === "current")
          notes.push(...(outcome.remarks ?? []).map((remark) => `${titleOf(delivery)}: ${remark}`));
        else if (outcome.state === "no_bill") others.push(`${titleOf(delivery)}: ${outcome.problem}`);
        else if (outcome.state !== "expired") errors.push(`${titleOf(delivery)}: ${outcome.problem}`);
      }
      // A source whose files are all something else is a mistake in its `location`.
      const hasBill = others.length < deliveries.length + listing.pending.length;
      if (hasBill) notes.push(...others);
      else errors.push(...others);
      if (!held && moved.length === 0) continue;
      const problem = await settleMoved(store, source.name, listing, settings, signal);
      if (problem !== undefined) errors.push(`${source.name}: ${problem}`);
    } catch (error) {
      // One source that is down does not concern the others; a store that is, or a lost lease, concerns all.
      signal.throwIfAborted();
      if (error instanceof LeaseLostError || !(await client.ping()).success) throw error;
      errors.push(`${source.name}: ${errorText(error)}`);
    }
  }
  return { errors, warnings, notes };
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
  /** Of those, the ones whose lines the store does not have any more. */
  readonly lost: ReadonlySet<RecordedDelivery>;
}

async function loadIfNew(
  store: DeliveryStore,
  delivery: Delivery,
  { ofSource, moved, lost }: Known,
  settings: LoadSettings,
  signal: AbortSignal,
): Promise<LoadOutcome> {
  const same = ofSource.findLast((each) => isRecordOf(each, delivery, settings.hash));
  const isKeptAgain = same?.state === "expired" && expiryOf(same, settings) === undefined;
  if (same !== undefined && !isKeptAgain && !lost.has(same)) return outcomeOf(same);
  const scope = scopeOf(delivery);
  const old = ofSource.find((each) => each.state === "current" && each.scope === scope);
  const others = moved.filter((each) => each.state === "current" && each !== old);
  return await loadDelivery(store, delivery, { old, moved: others }, settings, signal);
}

function outcomeOf({ state, problem, replaces }: RecordedDelivery): LoadOutcome {
  if (state === "current") return { state };
  const isHeld = state === "waiting_for_acceptance" && replaces.length > 0;
  return { state: isHeld ? "held" : state, problem: problem ?? "" };
}

function titleOf({ source, billing_period, files }: Delivery): string {
  const what = billing_period ?? (files.length === 1 ? files[0]?.name : undefined);
  return what === undefined ? source : `${source} ${what}`;
}

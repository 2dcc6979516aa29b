/** Brings what the sources deliver into the store: what is new of it, one delivery after the other. */

import { errorText } from "../../../../store/clickhouse/error-text.js";
import { LeaseLostError } from "../../../../store/lease-lost.js";
import { runStatement } from "../../../../store/postgres/statement.js";
import type { BillSource, Delivery } from "../sources/delivery.js";
import { type DeliveryStore, type LoadSettings, loadDelivery } from "./load-delivery.js";
import { dropUnrecorded } from "./partitions.js";
import { forgetLoading, type RecordedDelivery, readDeliveries, scopeOf } from "./records.js";

export interface LoadReport {
  /** Sentences: a source that could not be listed, a delivery that could not be read or waits for a person. */
  readonly errors: readonly string[];
  /** Sentences: what is not complete yet, and what is odd about deliveries. */
  readonly warnings: readonly string[];
}

export async function loadDeliveries(
  store: DeliveryStore,
  sources: readonly BillSource[],
  settings: LoadSettings,
  signal: AbortSignal,
): Promise<LoadReport> {
  const { client, postgres, gate, tenantName, epoch } = store;
  const recorded = await gate.change(async () => {
    await runStatement(postgres, forgetLoading(tenantName, epoch));
    const recorded = await recordedDeliveries(store);
    await dropUnrecorded(client, new Set(recorded.map(({ delivery_id }) => delivery_id)), signal);
    return recorded;
  }, signal);
  const errors: string[] = [];
  const warnings: string[] = [];
  for (const source of sources) {
    try {
      const { deliveries, waiting } = await source.list(signal);
      warnings.push(...waiting.map(({ name, reason }) => `${source.name}: ${name}: ${reason}`));
      for (const delivery of deliveries) {
        warnings.push(...delivery.remarks.map((remark) => `${titleOf(delivery)}: ${remark}`));
        const problem = await loadIfNew(store, delivery, recorded, settings, signal);
        if (problem !== undefined) errors.push(`${titleOf(delivery)}: ${problem}`);
      }
    } catch (error) {
      // One source that is down does not concern the others; a store that is, or a lost lease, concerns all.
      signal.throwIfAborted();
      if (error instanceof LeaseLostError || !(await client.ping()).success) throw error;
      errors.push(`${source.name}: ${errorText(error)}`);
    }
  }
  return { errors, warnings };
}

export async function recordedDeliveries({
  postgres,
  tenantName,
}: Pick<DeliveryStore, "postgres" | "tenantName">): Promise<RecordedDelivery[]> {
  return (await runStatement<RecordedDelivery>(postgres, readDeliveries(tenantName))).rows;
}

/** Returns why the delivery does not count. */
async function loadIfNew(
  store: DeliveryStore,
  delivery: Delivery,
  recorded: readonly RecordedDelivery[],
  settings: LoadSettings,
  signal: AbortSignal,
): Promise<string | undefined> {
  const scope = scopeOf(delivery);
  const ofScope = recorded.filter((each) => each.source === delivery.source && each.scope === scope);
  const same = ofScope.find(
    (each) => each.content_id === delivery.id && each.settings_hash === settings.hash,
  );
  if (same !== undefined) return same.problem ?? undefined;
  const old = ofScope.find(({ state }) => state === "current");
  const outcome = await loadDelivery(store, delivery, old, settings, signal);
  return outcome.state === "current" ? undefined : outcome.problem;
}

function titleOf({ source, billing_period, files }: Delivery): string {
  const what = billing_period ?? (files.length === 1 ? files[0]?.name : undefined);
  return what === undefined ? source : `${source} ${what}`;
}

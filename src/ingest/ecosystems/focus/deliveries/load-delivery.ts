/** Brings one delivery into the store and makes it count, or leaves everything as it was. */
import { UnreadableFile } from "../../../../focus/format.js";
import { LeaseLostError } from "../../../../store/lease-lost.js";
import { runStatement } from "../../../../store/postgres/statement.js";
import { withTransaction } from "../../../../store/postgres/transaction.js";
import { type LoadedFile, loadFile } from "../load/load-file.js";
import { type LoadedLines, LoadMismatch, requireEqualSums, summarise } from "../load/summary.js";
import type { Delivery } from "../sources/delivery.js";
import type { DeliveryStore, LoadSettings } from "./delivery-store.js";
import { NOT_ALL_READ, sharedDays } from "./moved.js";
import { dropDelivery } from "./partitions.js";
import { beginDelivery, finishDelivery, type RecordedDelivery, refuseDelivery } from "./records.js";
import { shrinkage } from "./shrinkage.js";

export type LoadOutcome =
  | { readonly state: "current" }
  /** held: its charges lie in deliveries of other scopes as well; who loads all of a source decides when it takes their place. */
  | { readonly state: "held" | "waiting_for_acceptance" | "refused"; readonly problem: string };

/** What there is of the source until now. */
interface Before {
  /** What counts of the scope. */
  readonly old: RecordedDelivery | undefined;
  /** What counts of other scopes, and is not delivered in that way any more. */
  readonly moved: readonly RecordedDelivery[];
}

/**
 * Throws what the source throws, and `LeaseLostError`; nothing of the delivery counts then, and the next run tries again.
 */
export async function loadDelivery(
  store: DeliveryStore,
  delivery: Delivery,
  { old, moved }: Before,
  settings: LoadSettings,
  signal: AbortSignal,
): Promise<LoadOutcome> {
  const { client, postgres, tenantName, epoch } = store;
  const begin = beginDelivery({ tenantName, epoch, delivery, settingsHash: settings.hash });
  const [begun] = (await runStatement<{ delivery_id: string }>(postgres, begin)).rows;
  if (begun === undefined) throw new LeaseLostError(epoch);
  const { delivery_id: deliveryId } = begun;
  try {
    const files: LoadedFile[] = [];
    for (const [at, file] of delivery.files.entries()) {
      const { cost, currency } = settings;
      files.push(await loadFile(client, { delivery: deliveryId, at, file, cost, currency }, signal));
    }
    await requireEqualSums(client, deliveryId, files.filter(({ format }) => format === "CSV").length, signal);
    const loaded = await summarise(
      client,
      deliveryId,
      delivery.files.map(({ name }) => name),
      signal,
    );
    requireDates(loaded);
    const { shrinkLimit: limit, today } = settings;
    const replaces = (await sharedDays(client, moved, [deliveryId], signal)).map((each) => each.delivery);
    const shrunk = old === undefined ? undefined : shrinkage({ old, loaded, limit, today });
    const problem = replaces.length === 0 ? shrunk : NOT_ALL_READ;
    await store.gate.change(async () => {
      await finish(store, { deliveryId, epoch, files, loaded, problem, replaces });
      if (problem === undefined && old !== undefined) await dropDelivery(client, old.delivery_id);
    }, signal);
    if (problem === undefined) return { state: "current" };
    return { state: replaces.length > 0 ? "held" : "waiting_for_acceptance", problem };
  } catch (error) {
    // What this cannot drop, because the store is away, the next run drops.
    await dropDelivery(client, deliveryId).catch(() => undefined);
    if (!(error instanceof UnreadableFile || error instanceof LoadMismatch)) throw error;
    for (const statement of refuseDelivery(deliveryId, error.message))
      await runStatement(postgres, statement);
    return { state: "refused", problem: error.message };
  }
}

/** Without any date, none of it could be charged to a day, and what it replaces would be gone. */
function requireDates({ lines, first_day }: LoadedLines): void {
  if (lines === 0 || first_day !== undefined) return;
  throw new UnreadableFile(
    "no line has an ISO date in ChargePeriodStart, such as 2026-05-31T00:00:00Z: nothing of it is charged",
  );
}

async function finish(
  { postgres, epoch }: DeliveryStore,
  finished: Parameters<typeof finishDelivery>[0],
): Promise<void> {
  await withTransaction(postgres, async (on) => {
    let rows = 0;
    for (const statement of finishDelivery(finished))
      rows = (await runStatement(on, statement)).rowCount ?? 0;
    if (rows !== 1) throw new LeaseLostError(epoch);
  });
}

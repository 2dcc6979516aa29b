/** Brings one delivery into the store and makes it count, or leaves everything as it was. */
import { UnreadableFile } from "../../../../focus/format.js";
import { LeaseLostError } from "../../../../store/lease-lost.js";
import { runStatement } from "../../../../store/postgres/statement.js";
import { withTransaction } from "../../../../store/postgres/transaction.js";
import { NO_CHARGE_DATE } from "../load/findings.js";
import { type LoadedFile, loadFile } from "../load/load-file.js";
import { type LoadedLines, LoadMismatch, requireEqualSums, summarise } from "../load/summary.js";
import type { Delivery } from "../sources/delivery.js";
import type { DeliveryStore, LoadSettings } from "./delivery-store.js";
import { type CoveredDays, expiryOf } from "./expiry.js";
import { NOT_ALL_READ, sharedDays } from "./moved.js";
import { dropDelivery } from "./partitions.js";
import {
  beginDelivery,
  type FinishedDelivery,
  finishDelivery,
  type RecordedDelivery,
  refuseDelivery,
} from "./records.js";
import { shrinkage } from "./shrinkage.js";

export type LoadOutcome =
  /** Remarks: sentences about files of the delivery that are no bills. */
  | { readonly state: "current"; readonly remarks?: readonly string[] }
  /** held: its charges lie in deliveries of other scopes as well; who loads all of a source decides when it takes their place. */
  | {
      readonly state: "held" | "waiting_for_acceptance" | "refused" | "expired" | "no_bill";
      readonly problem: string;
    };

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
  let mayCount = false;
  try {
    const files: LoadedFile[] = [];
    for (const [at, file] of delivery.files.entries()) {
      const { cost, currency } = settings;
      files.push(await loadFile(client, { delivery: deliveryId, at, file, cost, currency }, signal));
    }
    const remarks = files.flatMap(({ name, dataset }) =>
      dataset === undefined ? [] : `${JSON.stringify(name)} holds ${dataset}, and is left alone`,
    );
    if (remarks.length > 0 && remarks.length === files.length) throw new NoBill(remarks);
    const bills = files.filter(({ dataset }) => dataset === undefined);
    await requireEqualSums(client, deliveryId, bills.filter(({ format }) => format === "CSV").length, signal);
    const loaded = await summarise(
      client,
      deliveryId,
      delivery.files.map(({ name }) => name),
      signal,
    );
    requireDates(loaded);
    const { shrinkLimit: limit, today } = settings;
    const shared = await sharedDays(client, moved, [deliveryId], settings, signal);
    const replaces = shared.map((each) => each.delivery);
    const shrunk = old === undefined ? undefined : shrinkage({ old, loaded, limit, today });
    const problem = replaces.length === 0 ? shrunk : NOT_ALL_READ;
    const outcome = outcomeOf(problem, expiryOf(daysOf(delivery, loaded), settings));
    await store.gate.change(async () => {
      mayCount = true;
      await finish(store, { deliveryId, epoch, files, loaded, outcome, replaces, remarks });
      if (outcome.state === "expired") await dropDelivery(client, deliveryId);
      if (problem === undefined && old !== undefined) await dropDelivery(client, old.delivery_id);
    }, signal);
    if (outcome.state === "current") return { ...outcome, remarks };
    return outcome.state === "waiting_for_acceptance" && replaces.length > 0
      ? { ...outcome, state: "held" }
      : outcome;
  } catch (error) {
    // What this cannot drop, because the store is away, the next run drops. It also does where nobody knows whether Postgres has recorded it.
    if (!mayCount) await dropDelivery(client, deliveryId).catch(() => undefined);
    if (!(error instanceof UnreadableFile || error instanceof LoadMismatch || error instanceof NoBill))
      throw error;
    const state = error instanceof NoBill ? "no_bill" : "refused";
    for (const statement of refuseDelivery(deliveryId, state, error.message))
      await runStatement(postgres, statement);
    return { state, problem: error.message };
  }
}

/** Each file of the delivery is something else than a bill: it is no delivery, and what counts of its scope stays. */
class NoBill extends Error {
  override readonly name = "NoBill";
  constructor(remarks: readonly string[]) {
    const rest = remarks.length - 1;
    const more =
      rest === 0
        ? []
        : [rest === 1 ? "1 more file is no bill either" : `${rest} more files are no bills either`];
    super([...remarks.slice(0, 1), ...more].join("; "));
  }
}

function outcomeOf(problem: string | undefined, expiry: string | undefined): FinishedDelivery["outcome"] {
  if (problem !== undefined) return { state: "waiting_for_acceptance", problem };
  return expiry === undefined ? { state: "current" } : { state: "expired", problem: expiry };
}

function daysOf({ billing_period }: Delivery, loaded: LoadedLines): CoveredDays {
  return {
    billing_period: billing_period ?? null,
    last_start_day: loaded.last_start_day ?? null,
    last_day: loaded.last_day ?? null,
    has_undated_lines: loaded.findings.some(({ id }) => id === NO_CHARGE_DATE),
  };
}

/** Without any date, none of it could be charged to a day, and what it replaces would be gone. */
function requireDates({ lines, first_day }: LoadedLines): void {
  if (lines === 0 || first_day !== undefined) return;
  throw new UnreadableFile(
    "no line has an ISO date in ChargePeriodStart, such as 2026-05-31T00:00:00Z: nothing of it is charged",
  );
}

async function finish({ postgres, epoch }: DeliveryStore, finished: FinishedDelivery): Promise<void> {
  await withTransaction(postgres, async (on) => {
    let rows = 0;
    for (const statement of finishDelivery(finished))
      rows = (await runStatement(on, statement)).rowCount ?? 0;
    if (rows !== 1) throw new LeaseLostError(epoch);
  });
}

/** Loads one delivery into the store and makes it count, or leaves everything as it was. */
import { LeaseLostError } from "../../../../common/lease-lost.js";
import { UnreadableFileError } from "../../../../focus/index.js";
import { retirementsOf } from "../../../../postgres/retirement.js";
import { runStatement } from "../../../../postgres/statement.js";
import { withTransaction } from "../../../../postgres/transaction.js";
import { NO_CHARGE_DATE } from "../load/findings.js";
import { type LoadedFile, loadFile } from "../load/load-file.js";
import { LoadMismatchError, requireEqualSums } from "../load/require-equal-sums.js";
import {
  type LoadedLines,
  NO_LINES,
  summariseDelivery,
  summarisedLines,
  sumsByCurrency,
} from "../load/summary.js";
import { compareBills, type Overlap } from "../overlaps/compare.js";
import type { Delivery } from "../sources/delivery.js";
import type { DeliveryStore, LoadSettings } from "./delivery-store.js";
import { duplicateRemarks, type KnownFile, twinOf } from "./duplicates.js";
import { type CoveredDays, expiryOf } from "./expiry.js";
import { manifestFindings, type ReadFile } from "./manifest-totals.js";
import { dropDelivery } from "./partitions.js";
import {
  beginDelivery,
  type DuplicateFile,
  type FinishedDelivery,
  finishDelivery,
  type RecordedDelivery,
  refuseDelivery,
} from "./records.js";
import { NOT_ALL_READ, sharedDays } from "./relocated-deliveries.js";
import { shrinkageOf, withCountedSums } from "./shrinkage.js";

export type LoadOutcome =
  /** `remarks`: sentences about files of the delivery that are not bills, or whose bytes count elsewhere. */
  | { readonly state: "current"; readonly remarks?: readonly string[] }
  /**
   * `held`: its charges are also in deliveries of other scopes; the caller that loads the whole source decides when it
   * replaces them. `undecided`: some of its charges are also in other bills; the caller that loads all sources decides
   * which one counts.
   */
  | {
      readonly state:
        | "held"
        | "undecided"
        | "waiting_for_acceptance"
        | "refused"
        | "expired"
        | "superseded"
        | "no_bill";
      readonly problem: string;
    };

/** The problem of a delivery until everything delivered has been compared. */
const NOT_DECIDED = "some of its charges are in another bill as well";

export function loadOutcome({
  problem,
  waits_for,
}: {
  readonly problem: string | null;
  readonly waits_for: RecordedDelivery["waits_for"];
}): LoadOutcome {
  const state =
    waits_for === "moved" ? "held" : waits_for === "overlap" ? "undecided" : "waiting_for_acceptance";
  return { state, problem: problem ?? "" };
}

/** What the store already has of the source. */
interface Before {
  /** Deliveries of the scope that count: several if each has other periods. */
  readonly old: readonly RecordedDelivery[];
  /** Deliveries of other scopes that count, and that the source no longer delivers in that way. */
  readonly moved: readonly RecordedDelivery[];
  /** Files of other deliveries that count. */
  readonly known: readonly KnownFile[];
  /** Deliveries that this one does not replace, and that may have its charges as well. */
  readonly others: readonly RecordedDelivery[];
}

/**
 * Throws what the source throws, and `LeaseLostError`. Then nothing of the delivery counts, and the next run tries
 * again.
 */
export async function loadDelivery(
  store: DeliveryStore,
  delivery: Delivery,
  { old, moved, known, others }: Before,
  settings: LoadSettings,
  signal: AbortSignal,
): Promise<LoadOutcome> {
  const { client, postgres, tenantName, epoch } = store;
  const begin = beginDelivery({ tenantName, epoch, delivery, settingsHash: settings.hash });
  const [started] = (await runStatement<{ delivery_id: string }>(postgres, begin)).rows;
  if (started === undefined) throw new LeaseLostError(epoch);
  const { delivery_id: deliveryId } = started;
  let mayCount = false;
  try {
    const { files, leftOut } = await loadFiles(store, deliveryId, delivery, { known, settings }, signal);
    const otherDatasets = files.flatMap(({ name, dataset }) =>
      dataset === undefined ? [] : `${JSON.stringify(name)} holds ${dataset}, and is left alone`,
    );
    if (otherDatasets.length > 0 && otherDatasets.length === files.length && leftOut.length === 0)
      throw new NoBillError(otherDatasets);
    const bills = files.filter(({ dataset }) => dataset === undefined);
    await requireEqualSums(client, deliveryId, bills.filter(({ format }) => format === "CSV").length, signal);
    const loaded = await summariseDelivery(
      client,
      deliveryId,
      files.map(({ name }) => name),
      signal,
    );
    requireDates(loaded);
    const duplicates = leftOut.map((each) => withLines(each, files, loaded));
    const duplicateSentences = duplicateRemarks(delivery.source, duplicates);
    const remarks = [...otherDatasets, ...duplicateSentences];
    const filesWithLines = files.map((file, at) => ({ ...file, ...(loaded.files.get(at) ?? NO_LINES) }));
    const differing = manifestFindings(delivery.totals ?? [], billsByName(filesWithLines, duplicates));
    const { shrinkLimit: limit, today } = settings;
    const shared = await sharedDays(client, moved, [deliveryId], settings, signal);
    const replaces = shared.map((each) => each.delivery);
    const billing_period = delivery.billing_period ?? null;
    const elsewhere = duplicates.filter(({ sha256 }) => !files.some((file) => file.sha256 === sha256));
    const newer = { ...withDuplicates(loaded, elsewhere), billing_period };
    const shrunk = shrinkageOf(await withCountedSums(client, old, signal), newer, { limit, today });
    const comparable = {
      delivery_id: deliveryId,
      lines: loaded.lines,
      retired: [],
      superseded: [],
      files: filesWithLines,
    };
    const comparableOthers = others.map((each) => ({ ...each, lines: Number(each.lines) }));
    const overlaps = await compareBills(client, comparable, comparableOthers, settings.cost, signal);
    const expiry = expiryOf(daysOf(delivery, loaded), settings);
    const outcome: FinishedDelivery["outcome"] =
      bills.length === 0 && duplicates.length > 0
        ? { state: "superseded", problem: `all of it counts already: ${duplicateSentences.join(" ")}` }
        : outcomeOf({ shrunk, replaces, overlaps, expiry });
    const retirements = outcome.state === "waiting_for_acceptance" ? [] : retirementsOf(old, newer);
    await store.backupLock.shared(async () => {
      mayCount = true;
      const finished = { deliveryId, epoch, files, duplicates, outcome, overlaps, replaces, retirements };
      await finish(store, {
        ...finished,
        remarks: [...remarks, ...differing.map(({ what }) => what)],
        loaded: { ...loaded, findings: [...loaded.findings, ...differing] },
      });
      if (outcome.state === "expired") await dropDelivery(client, deliveryId);
      for (const { delivery_id, retired } of retirements)
        if (retired === undefined) await dropDelivery(client, delivery_id);
    }, signal);
    if (outcome.state === "current") return remarks.length === 0 ? outcome : { ...outcome, remarks };
    return "waits_for" in outcome ? loadOutcome(outcome) : outcome;
  } catch (error) {
    // If the store is down, the next run drops the lines. The next run also decides if it is unknown whether Postgres
    // recorded the delivery.
    if (!mayCount) await dropDelivery(client, deliveryId).catch(() => undefined);
    if (
      !(
        error instanceof UnreadableFileError ||
        error instanceof LoadMismatchError ||
        error instanceof NoBillError
      )
    )
      throw error;
    const state = error instanceof NoBillError ? "no_bill" : "refused";
    for (const statement of refuseDelivery(deliveryId, state, error.message))
      await runStatement(postgres, statement);
    return { state, problem: error.message };
  }
}

/** No file of the delivery is a bill, so it is not a delivery, and the deliveries of its scope still count. */
class NoBillError extends Error {
  override readonly name = "NoBillError";
  constructor(remarks: readonly string[]) {
    const rest = remarks.length - 1;
    const more =
      rest === 0
        ? []
        : [rest === 1 ? "1 more file is no bill either" : `${rest} more files are no bills either`];
    super([...remarks.slice(0, 1), ...more].join("; "));
  }
}

/** Loads each file whose bytes are not known yet. A loaded file is numbered by its position. */
async function loadFiles(
  { client }: DeliveryStore,
  deliveryId: string,
  { source, files }: Delivery,
  { known, settings }: { readonly known: readonly KnownFile[]; readonly settings: LoadSettings },
  signal: AbortSignal,
): Promise<{ files: LoadedFile[]; leftOut: DuplicateFile[] }> {
  const loaded: LoadedFile[] = [];
  const leftOut: DuplicateFile[] = [];
  const { cost, currency } = settings;
  for (const file of files) {
    const own = loaded.map((each) => ({ ...each, ...NO_LINES, source }));
    const twin = await twinOf(file, [...known, ...own], signal);
    if (twin !== undefined) leftOut.push(twin);
    else
      loaded.push(
        await loadFile(client, { delivery: deliveryId, at: loaded.length, file, cost, currency }, signal),
      );
  }
  return { files: loaded, leftOut };
}

/** Adds the sums of a duplicate, which are known once its whole delivery is loaded. */
function withLines(
  duplicate: DuplicateFile,
  files: readonly LoadedFile[],
  loaded: LoadedLines,
): DuplicateFile {
  const at = files.findIndex(({ sha256 }) => sha256 === duplicate.sha256);
  return at < 0 ? duplicate : { ...duplicate, ...(loaded.files.get(at) ?? NO_LINES) };
}

/** Returns the files of a delivery that are bills, by name. */
function billsByName(
  files: readonly (LoadedFile & ReadFile)[],
  duplicates: readonly DuplicateFile[],
): ReadonlyMap<string, ReadFile> {
  const bills = files.filter(({ dataset }) => dataset === undefined);
  return new Map([...bills, ...duplicates].map((file) => [file.name, file]));
}

/** Adds the lines that were left out because they count elsewhere: they are delivered all the same. */
function withDuplicates(loaded: LoadedLines, duplicates: readonly DuplicateFile[]) {
  const sums = sumsByCurrency([...loaded.sums, ...duplicates.flatMap((each) => each.sums)]);
  const elsewhere = duplicates.flatMap(({ periods, sums }) =>
    periods.map(([account, period]) => ({ account, period, first_day: null, last_day: null, sums })),
  );
  return { lines: summarisedLines(sums), sums, periods: [...loaded.periods, ...elsewhere] };
}

function outcomeOf({
  shrunk,
  replaces,
  overlaps,
  expiry,
}: {
  readonly shrunk: string | undefined;
  readonly replaces: readonly string[];
  readonly overlaps: readonly Overlap[];
  readonly expiry: string | undefined;
}): FinishedDelivery["outcome"] {
  const state = "waiting_for_acceptance";
  if (replaces.length > 0) return { state, waits_for: "moved", problem: NOT_ALL_READ };
  if (shrunk !== undefined) return { state, waits_for: "shrunk", problem: shrunk };
  if (expiry !== undefined) return { state: "expired", problem: expiry };
  return overlaps.length === 0 ? { state: "current" } : { state, waits_for: "overlap", problem: NOT_DECIDED };
}

function daysOf({ billing_period }: Delivery, loaded: LoadedLines): CoveredDays {
  return {
    billing_period: billing_period ?? null,
    last_start_day: loaded.last_start_day ?? null,
    last_day: loaded.last_day ?? null,
    has_undated_lines: loaded.findings.some(({ id }) => id === NO_CHARGE_DATE),
  };
}

/** Throws if no line has a date: nothing could be charged to a day, and the replaced bill would be gone. */
function requireDates({ lines, first_day }: LoadedLines): void {
  if (lines === 0 || first_day !== undefined) return;
  throw new UnreadableFileError(
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

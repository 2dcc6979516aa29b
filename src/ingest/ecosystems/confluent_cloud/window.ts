/**
 * Gathers one window of a Confluent Cloud tenant: its bill, query by query, then usage and identities of the billed
 * resources.
 *
 * If a query of the bill fails, its days stay as they are and the other queries go on, unless no query can succeed. A
 * metric that fails is a gap: the bill stands.
 */
import type { Logger } from "pino";
import { type DayRange, dayOf, daysOfWindow } from "../../../common/days.js";
import type { PluginSettings } from "../../../config/settings/plugin-settings.js";
import type { ControlTotal } from "../../../domain/control-totals.js";
import { isHopeless, UpstreamError } from "../../../upstream/http/upstream-error.js";
import type { WindowSink } from "../../ecosystem.js";
import type { KnownInventory } from "../../known.js";
import type { ReplicaNotes } from "../../metered/replica-notes.js";
import { failuresOf } from "../../prometheus/source.js";
import type { BilledAmount, WindowReport } from "../../reports.js";
import type { ConfluentConnection } from "./api/connection.js";
import { type BilledCollector, type BilledResources, collectBilled } from "./billed.js";
import { createControlCounter } from "./costs/control.js";
import { type BilledDay, gatherCosts } from "./costs/gather-costs.js";
import { familyOf } from "./costs/product-types.js";
import { requestWindows } from "./costs/request-windows.js";
import { warnOfUnknownType } from "./costs/unknown-types.js";
import { writeIdentitySets } from "./identity-sets.js";
import { type BillResponse, knownDigest, type WindowResponses } from "./responses.js";
import type { ConfluentCloudSettings } from "./settings.js";
import { noteLastUsed } from "./usage/last-used.js";
import { gatherConfluentUsage } from "./usage.js";

export interface WindowGathering {
  readonly settings: ConfluentCloudSettings & Pick<PluginSettings, "metrics" | "metrics_step_seconds">;
  readonly connection: ConfluentConnection;
  readonly logger: Logger;
  readonly parallelQueries: number;
  known(signal: AbortSignal): Promise<KnownInventory>;
  now(): Date;
  /** Undefined if nothing is read from Prometheus. */
  readonly replicas: ReplicaNotes | undefined;
  /** State that the windows of one run share. */
  readonly run: { billReceived: boolean };
}

/** Days of more than a year ago are not requested. They stay as they are, and that is not an error. */
export async function gatherConfluentWindow(
  gathering: WindowGathering,
  window: DayRange,
  sink: WindowSink,
  signal: AbortSignal,
): Promise<WindowReport> {
  const dropped: Record<string, number> = {};
  const { completeDays, errors, billed, bill, control } = await gatherBill(gathering, window, sink, {
    signal,
    dropped: (reason) => {
      dropped[reason] = (dropped[reason] ?? 0) + 1;
    },
  });
  const { settings, connection, parallelQueries, replicas } = gathering;
  const known = await gathering.known(signal);
  const lastUsed = noteLastUsed(sink);
  const usage = await gatherConfluentUsage(
    { settings, connection, billed, window, known, parallelQueries },
    lastUsed.sink,
    signal,
  );
  const notes = (await replicas?.of(lastUsed.queries(settings.metrics_step_seconds), signal)) ?? [];
  await writeIdentitySets({ billed, window, known }, sink, signal);
  for (const [reason, count] of Object.entries(usage.dropped))
    dropped[reason] = (dropped[reason] ?? 0) + count;
  const responses: WindowResponses = {
    known: knownDigest(known, window),
    bill,
    usage: usage.responses,
  };
  const isComplete = errors.length + usage.errors.length === 0;
  return {
    completeDays,
    dropped,
    control: control.totals,
    billed: control.billed,
    errors: [...errors, ...usage.errors],
    ...(notes.length > 0 && { notes }),
    ...(isComplete && { responses }),
    failures: failuresOf(usage.responses),
  };
}

interface Bill {
  readonly bill: readonly BillResponse[];
  readonly completeDays: string[];
  readonly errors: string[];
  readonly billed: BilledResources;
  /** Control totals of the queries that were read completely. */
  readonly control: { readonly totals: ControlTotal[]; readonly billed: BilledAmount[] };
}

/**
 * Throws if no query can succeed, or if no query of the window succeeded nor any earlier one of this run. So an outage
 * of the upstream is noticed after a few minutes, and one bad day does not end the run.
 */
async function gatherBill(
  { settings, connection, logger, now, run }: WindowGathering,
  window: DayRange,
  sink: WindowSink,
  { signal, dropped }: { readonly signal: AbortSignal; readonly dropped: (reason: string) => void },
): Promise<Bill> {
  const { cloud } = connection;
  const collector = collectBilled();
  const completeDays: string[] = [];
  const bill: BillResponse[] = [];
  const failures: { readonly query: DayRange; readonly error: UpstreamError }[] = [];
  const control: Bill["control"] = { totals: [], billed: [] };
  const today = dayOf(now());
  const queries = requestWindows(window, settings.billing_api.days_per_query, today);
  for (const query of queries) {
    signal.throwIfAborted();
    let days: Iterable<BilledDay>;
    const pages: string[] = [];
    const counter = createControlCounter();
    const onPage = (digest: string) => void pages.push(digest);
    try {
      days = await gatherCosts({ cloud, window: query, logger, dropped, control: counter, onPage }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UpstreamError)) throw error;
      failures.push({ query, error });
      if (isLasting(error)) break;
      continue;
    }
    for (const { day, lines } of days) {
      await sink.billing(lines);
      for (const line of lines) note(collector, day, line.product_type, line.resource_id, logger);
    }
    control.totals.push(...counter.totals());
    control.billed.push(...counter.billed());
    completeDays.push(...daysOfWindow(query));
    bill.push({ start: query.start, end: query.end, pages });
    run.billReceived = true;
  }
  const last = failures.at(-1)?.error;
  if (completeDays.length === 0 && last !== undefined && (!run.billReceived || isLasting(last))) throw last;
  const errors = failures.map(
    ({ query, error }) => `costs of ${query.start} to ${query.end}: ${error.message}`,
  );
  return { completeDays, errors, billed: collector.billed, bill, control };
}

/**
 * The next query would fail in the same way after the same wait. A refusal (400) may concern only the days of one
 * query.
 */
function isLasting(error: UpstreamError): boolean {
  return error.code !== "bad_status" && isHopeless(error);
}

function note(
  collector: BilledCollector,
  day: string,
  productType: string,
  resourceId: string,
  logger: Logger,
): void {
  const family = familyOf(productType);
  if (family === undefined) warnOfUnknownType(productType, logger);
  collector.add(day, family, resourceId);
}

/**
 * Digests of the upstream's responses about a window. If all of them are the same again, byte for byte, the input of
 * the window is the same, and it need not be read again. Reading 200 days of 5,000 lines takes over a minute; comparing
 * them takes a second.
 */
import { type DayRange, dayOf } from "../../../common/days.js";
import { digestOfBytes } from "../../../upstream/http/digest.js";
import type { KnownInventory } from "../../known.js";
import type { RangeResponse } from "../../prometheus/source.js";
import { areUnchanged } from "../../prometheus/unchanged-responses.js";
import type { ConfluentConnection } from "./api/connection.js";
import { costDigests } from "./costs/gather-costs.js";
import { requestWindows } from "./costs/request-windows.js";
import { spanOfDay } from "./lifetimes.js";
import type { ConfluentCloudSettings } from "./settings.js";

/** Digests of one gathering of a window. Plain JSON. */
export interface WindowResponses {
  /** Digest of the part of the inventory that the window depends on. */
  readonly known: string;
  readonly bill: readonly BillResponse[];
  readonly usage: readonly RangeResponse[];
}

/** Digests of the pages of one query of the bill. */
export interface BillResponse extends DayRange {
  readonly pages: readonly string[];
}

/** Digests of the usage of topics. Plain JSON. */
export interface TopicResponses {
  readonly usage: readonly RangeResponse[];
}

/**
 * Digests the part of the inventory that the input of a window can depend on: everything that was not created after it,
 * without deletions after it. So a key or a statement that is created or deleted today does not affect earlier months.
 * A key that a connector uses always counts, because it determines the owner of the connector.
 */
export function knownDigest({ resources, identities }: KnownInventory, { end }: DayRange): string {
  const { start: after } = spanOfDay(end);
  const used = new Set(resources.map(({ metadata }) => metadata.kafka_api_key));
  const relevant = [
    ...resources.filter(({ created_at }) => created_at === null || created_at < after),
    ...identities.filter(
      ({ created_at, identity_id }) => created_at === null || created_at < after || used.has(identity_id),
    ),
  ].map((each) =>
    each.deleted_at === null || each.deleted_at < after ? each : { ...each, deleted_at: null },
  );
  return digestOfBytes(Buffer.from(JSON.stringify(relevant)));
}

export interface UnchangedCheck {
  readonly settings: Pick<ConfluentCloudSettings, "billing_api">;
  readonly connection: ConfluentConnection;
  readonly parallelQueries: number;
  known(signal: AbortSignal): Promise<KnownInventory>;
  now(): Date;
}

/**
 * Repeats all requests, the bill first, until a response differs. Each request is tried once. A failed request is a
 * difference, unless it failed before; the gathering that follows has retries.
 */
export async function isUnchanged(
  check: UnchangedCheck,
  window: DayRange,
  { of, topics }: { readonly of: WindowResponses; readonly topics: TopicResponses | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  const { settings, connection, now } = check;
  const queries = requestWindows(window, settings.billing_api.days_per_query, dayOf(now()));
  if (!sameQueries(queries, of.bill)) return false;
  if (of.known !== knownDigest(await check.known(signal), window)) return false;
  try {
    for (const query of of.bill) if (!(await sameBill(connection, query, signal))) return false;
    const usage = [...of.usage, ...(topics?.usage ?? [])];
    return await areUnchanged(check.connection.prometheus, usage, check.parallelQueries, signal);
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

function sameQueries(current: readonly DayRange[], recorded: readonly DayRange[]): boolean {
  const text = (queries: readonly DayRange[]) => queries.map(({ start, end }) => `${start} ${end}`).join();
  return text(current) === text(recorded);
}

async function sameBill(
  { cloud }: ConfluentConnection,
  { pages, ...query }: BillResponse,
  signal: AbortSignal,
): Promise<boolean> {
  let page = 0;
  for await (const digest of costDigests(cloud, query, signal)) {
    if (digest !== pages[page]) return false;
    page += 1;
  }
  return page === pages.length;
}

/**
 * What the upstream answered about a window, as digests: a window whose answers are the same again, byte for byte, has the same
 * input, and need not be read again. To read 200 days of 5,000 lines takes over a minute; to see that they are the same, a second.
 */
import { dayOf } from "../../../time/days.js";
import { digestOf } from "../../../upstream-http/digest.js";
import type { DayWindow } from "../../ecosystem.js";
import type { KnownInventory } from "../../known.js";
import type { RangeResponse } from "../../prometheus/source.js";
import { areUnchanged } from "../../prometheus/unchanged-responses.js";
import type { ConfluentConnection } from "./api/connection.js";
import { costDigests } from "./costs/gather-costs.js";
import { requestWindows } from "./costs/request-windows.js";
import { spanOfDay } from "./lifetimes.js";
import type { ConfluentCloudSettings } from "./settings.js";

/** Of one gathering of a window. Plain JSON. */
export interface WindowResponses {
  /** Of the inventory, as far as the window depends on it. */
  readonly known: string;
  readonly bill: readonly BillResponse[];
  readonly usage: readonly RangeResponse[];
}

/** Digests of the pages of one query of the bill. */
export interface BillResponse extends DayWindow {
  readonly pages: readonly string[];
}

/** Of the usage of topics. Plain JSON. */
export interface TopicResponses {
  readonly usage: readonly RangeResponse[];
}

/**
 * What of the inventory the input of a window can depend on: all but what was created after it, and but deletions after it. So a
 * key or a statement that comes or goes today leaves the months before alone. A key that a connector uses counts whenever it
 * was created: who owns the connector is told by it.
 */
export function knownDigest({ resources, identities }: KnownInventory, { end }: DayWindow): string {
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
  return digestOf(Buffer.from(JSON.stringify(relevant)));
}

export interface UnchangedCheck {
  readonly settings: Pick<ConfluentCloudSettings, "billing_api">;
  readonly connection: ConfluentConnection;
  readonly parallelQueries: number;
  known(signal: AbortSignal): Promise<KnownInventory>;
  now(): Date;
}

/**
 * Asks everything once more, the bill first, until an answer differs. A request that fails is a difference, after one attempt, unless
 * it failed then: it is for the gathering to be patient, which follows.
 */
export async function isUnchanged(
  asking: UnchangedCheck,
  window: DayWindow,
  { of, topics }: { readonly of: WindowResponses; readonly topics: TopicResponses | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  const { settings, connection, now } = asking;
  const queries = requestWindows(window, settings.billing_api.days_per_query, dayOf(now()));
  if (!sameQueries(queries, of.bill)) return false;
  if (of.known !== knownDigest(await asking.known(signal), window)) return false;
  try {
    for (const query of of.bill) if (!(await sameBill(connection, query, signal))) return false;
    const usage = [...of.usage, ...(topics?.usage ?? [])];
    return await areUnchanged(asking.connection.prometheus, usage, asking.parallelQueries, signal);
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

function sameQueries(wanted: readonly DayWindow[], asked: readonly DayWindow[]): boolean {
  const text = (queries: readonly DayWindow[]) => queries.map(({ start, end }) => `${start} ${end}`).join();
  return text(wanted) === text(asked);
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

/** Lists of the vendor's API, converted to records page by page and sent to the inventory. */
import type { LimitFunction } from "p-limit";
import { allOrStop } from "../../../../common/all-or-stop.js";
import type { IdentityRecord, InventorySink, ResourceRecord } from "../../../ecosystem.js";
import type { ConfluentApi } from "../api/client.js";
import type { InventorySource, Tally } from "./tally.js";

/** What every source of the inventory works with. */
export interface Listing {
  readonly cloud: ConfluentApi;
  readonly sink: InventorySink;
  readonly tally: Tally;
  /** Limits the lists that are read in parallel. A caller never acquires it twice. */
  readonly limit: LimitFunction;
  /** Ends the gathering. It aborts `signal`, and so does the caller. */
  readonly stop: AbortController;
  readonly signal: AbortSignal;
}

export interface List {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly pageSize?: number;
}

/** Sends the resources of a list to the sink, and returns them. An item without an id makes its source incomplete. */
export async function listResources(
  { sink, ...listing }: Listing,
  source: InventorySource,
  list: List & { readonly api?: ConfluentApi },
  recordOf: (item: unknown) => ResourceRecord | undefined,
): Promise<ResourceRecord[]> {
  return await sendList(listing, source, list, recordOf, (batch) => sink.resources(batch));
}

export async function listIdentities(
  { sink, ...listing }: Listing,
  source: InventorySource,
  list: List,
  recordOf: (item: unknown) => IdentityRecord | undefined,
): Promise<IdentityRecord[]> {
  return await sendList(listing, source, list, recordOf, (batch) => sink.identities(batch));
}

async function sendList<Item>(
  { cloud, tally, signal }: Omit<Listing, "sink">,
  source: InventorySource,
  { api = cloud, path, query = {}, pageSize }: List & { readonly api?: ConfluentApi },
  recordOf: (item: unknown) => Item | undefined,
  send: (batch: readonly Item[]) => Promise<void>,
): Promise<Item[]> {
  const all: Item[] = [];
  const options = pageSize === undefined ? { signal } : { signal, pageSize };
  for await (const page of api.list(path, query, options)) {
    const records = page.map(recordOf);
    const known = records.filter((record): record is Awaited<Item> & Item => record !== undefined);
    if (known.length < records.length) tally.fail(source, "the list has an item without an id");
    if (known.length > 0) await send(known);
    all.push(...known);
  }
  return all;
}

/** Runs the same work for each item in parallel. One that fails does not stop the others. */
export async function forEach<Item, Result>(
  { tally, limit, stop }: Pick<Listing, "tally" | "limit" | "stop">,
  source: InventorySource,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = await allOrStop(
    stop,
    items.map((item) => limit(() => tally.attempt(source, () => work(item)))),
  );
  return results.filter((result): result is Awaited<Result> & Result => result !== undefined);
}

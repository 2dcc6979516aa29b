/** Notices files that are delivered to folders of this machine, so that they need not wait for the next scheduled run. */
import { setTimeout as delay } from "node:timers/promises";
import { digestOf } from "../common/digest.js";
import type { DeliveryFolder } from "../ingest/ecosystem.js";

interface WatchedTenant {
  readonly name: string;
  readonly folders: readonly DeliveryFolder[];
}

interface FolderWatch {
  readonly tenants: readonly WatchedTenant[];
  /** Called with the name of a tenant when its files differ from those before, and none of them is still written. */
  readonly onDelivery: (tenantName: string) => void;
  readonly signal: AbortSignal;
  readonly pauses?: typeof usualPauses;
}

/**
 * A pause is as long as many listings, because listing thousands of files takes long: at most 5 % of the time. With 100
 * listings, a bill waited 18 s, because a listing beside a run had taken 0.2 s.
 */
const usualPauses = { atLeastMs: 1000, listings: 20 };

/**
 * Lists the folders again and again until the signal aborts. Events of the file system would be missed on a network
 * drive. A folder that cannot be listed has no news: the next run reports it.
 */
export async function watchFolders({
  tenants,
  onDelivery,
  signal,
  pauses = usualPauses,
}: FolderWatch): Promise<void> {
  const watched = tenants.filter(({ folders }) => folders.length > 0);
  const known = new Map<DeliveryFolder, string>();
  while (watched.length > 0 && !signal.aborted) {
    const began = performance.now();
    for (const { name, folders } of watched) {
      const states = await Promise.all(folders.map(async (each) => await hasNews(each, known, signal)));
      if (states.includes(true) && !signal.aborted) onDelivery(name);
    }
    const pause = Math.max(pauses.atLeastMs, pauses.listings * (performance.now() - began));
    await delay(pause, undefined, { signal }).catch(() => undefined);
  }
}

async function hasNews(
  folder: DeliveryFolder,
  known: Map<DeliveryFolder, string>,
  signal: AbortSignal,
): Promise<boolean> {
  const listing = await folder.list(signal).catch(() => undefined);
  if (listing === undefined) return false;
  const before = known.get(folder);
  const now = Date.now();
  if (listing.files.some(({ modified }) => Math.abs(now - modified) < folder.settleMs)) {
    // The first run leaves files out that are still written, so they are news later.
    known.set(folder, before ?? "");
    return false;
  }
  const state = digestOf(listing.files.map(({ name, version }) => [name, version].join("\n")).sort());
  known.set(folder, state);
  return before !== undefined && before !== state;
}

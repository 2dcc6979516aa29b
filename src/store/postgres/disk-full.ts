/**
 * A full disk under the embedded Postgres. It refuses what needs more of its tables, and goes on; but without room for its log it ends, and
 * cannot start, because its recovery writes to the log too. Then it says so in a log of its own, which may be on the same disk: so the disk is
 * looked at as well.
 */
import { statfsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const MIB = 1024 * 1024;
/** A segment of its log, which it makes as a whole. */
const SEGMENT = 16 * MIB;

/** How the C library says it, in the language that the server is told to speak. Of a quota, Postgres says "internal error" besides. */
export const reportsDiskFull = /no space left on device|disk quota exceeded/i;

/** Why the embedded Postgres does not run. */
export class PostgresDiskFullError extends Error {
  override readonly name = "PostgresDiskFullError";
  readonly code = "ENOSPC";
}

/** What is to be said of a server that has ended, or could not start; undefined if not for want of room. `said`: its own last words. */
export function diskFullOn(cluster: string, said: string): PostgresDiskFullError | undefined {
  const free = freeOn(cluster);
  if (free >= SEGMENT && !reportsDiskFull.test(said)) return undefined;
  return new PostgresDiskFullError(
    `the disk with the postgres folder of data_dir has no room: ${Math.floor(free / MIB)} MiB are free`,
  );
}

/** How often the disk is looked at. Milliseconds. */
const LOOK_MS = 250;

/** Waits so long, or until the disk has room for a segment more than now. Returns early when the signal aborts. */
export async function waitForRoom(cluster: string, milliseconds: number, signal: AbortSignal): Promise<void> {
  const wanted = freeOn(cluster) + SEGMENT;
  for (const end = Date.now() + milliseconds; !signal.aborted; ) {
    const left = end - Date.now();
    if (left <= 0 || freeOn(cluster) >= wanted) return;
    await delay(Math.min(left, LOOK_MS), undefined, { signal }).catch(() => undefined);
  }
}

/** Infinite where nobody can say. The folder need not be there yet, but the one around it. */
function freeOn(cluster: string): number {
  for (const folder of [cluster, `${cluster}/..`]) {
    try {
      const { bavail, bsize } = statfsSync(folder);
      return bavail * bsize;
    } catch {}
  }
  return Number.POSITIVE_INFINITY;
}

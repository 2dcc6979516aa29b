/**
 * Detects a full disk under the embedded Postgres. Without space for tables, Postgres rejects statements and goes on.
 * Without space for its write-ahead log it ends, and cannot start again, because recovery writes to that log as well.
 * It then reports the full disk in its log file, which may be on the same disk, so the free space is checked as well.
 */
import { statfsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const MIB = 1024 * 1024;
/** A segment of the write-ahead log, which is created as a whole. */
const SEGMENT = 16 * MIB;

/**
 * Messages of the C library, in the language that the server is set to. For a quota, Postgres adds "internal error".
 */
export const reportsDiskFull = /no space left on device|disk quota exceeded/i;

/** The reason why the embedded Postgres is down. */
export class PostgresDiskFullError extends Error {
  override readonly name = "PostgresDiskFullError";
  readonly code = "ENOSPC";
}

/** Returns an error if a server ended, or could not start, because of a full disk. `output`: its last lines. */
export function diskFullOn(cluster: string, output: string): PostgresDiskFullError | undefined {
  const free = freeOn(cluster);
  if (free >= SEGMENT && !reportsDiskFull.test(output)) return undefined;
  return new PostgresDiskFullError(
    `the disk with the postgres folder of data_dir has no room: ${Math.floor(free / MIB)} MiB are free`,
  );
}

/** How often the free space is checked. Milliseconds. */
const CHECK_MS = 250;

/**
 * Waits for `milliseconds`, or until the disk has space for one segment more than now. Returns early if the signal
 * aborts.
 */
export async function waitForRoom(cluster: string, milliseconds: number, signal: AbortSignal): Promise<void> {
  const wanted = freeOn(cluster) + SEGMENT;
  for (const end = Date.now() + milliseconds; !signal.aborted; ) {
    const left = end - Date.now();
    if (left <= 0 || freeOn(cluster) >= wanted) return;
    await delay(Math.min(left, CHECK_MS), undefined, { signal }).catch(() => undefined);
  }
}

/** Free bytes; infinite if unknown. The folder need not exist yet, but its parent must. */
function freeOn(cluster: string): number {
  for (const folder of [cluster, `${cluster}/..`]) {
    try {
      const { bavail, bsize } = statfsSync(folder);
      return bavail * bsize;
    } catch {}
  }
  return Number.POSITIVE_INFINITY;
}

/**
 * The lock between backups and changes that both stores must agree on. Changes run concurrently. A backup waits for
 * changes in progress, and holds off new ones until it ends. The lock works within one process, which is enough,
 * because embedded stores belong to one process.
 */
import { abortable } from "../common/abortable.js";

export interface BackupLock {
  /**
   * Runs a change, after the exclusive work if there is any. Changes must not be nested: exclusive work may begin
   * between the two.
   */
  shared<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Runs `work` while no change is in progress. One at a time. */
  exclusive<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createBackupLock(): BackupLock {
  const changes = new Set<Promise<unknown>>();
  let paused: Promise<unknown> | undefined;

  return {
    async shared(work, signal) {
      // No await between this check and the registration of the change.
      while (paused !== undefined) await ended(paused, signal);
      signal.throwIfAborted();
      const change = work();
      changes.add(change);
      try {
        return await change;
      } finally {
        changes.delete(change);
      }
    },
    async exclusive(work, signal) {
      while (paused !== undefined) await ended(paused, signal);
      signal.throwIfAborted();
      const begun = [...changes];
      const pause = (async () => {
        for (const change of begun) await ended(change, signal);
        return await work();
      })();
      paused = pause;
      try {
        return await pause;
      } finally {
        paused = undefined;
      }
    },
  };
}

/** Waits until the promise settles. Throws the signal's reason if the signal aborts first. */
async function ended(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const settled = promise.catch(() => undefined);
  await abortable(settled, signal);
}

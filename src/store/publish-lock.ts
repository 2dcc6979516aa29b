/**
 * Keeps changes that both stores have to agree on apart from a backup of both. Changes go on side by side; a pause waits until those
 * that have begun are through, and holds off the others until it ends. It works within one process, which is enough: embedded stores
 * belong to one.
 */
import { abortable } from "./abortable.js";

export interface PublishLock {
  /** Runs a change, now or after the pause. Changes must not be nested: a pause may begin between the two. */
  shared<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Runs `work` while no change is under way. One pause at a time. */
  exclusive<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createPublishLock(): PublishLock {
  const changes = new Set<Promise<unknown>>();
  let paused: Promise<unknown> | undefined;

  return {
    async shared(work, signal) {
      // Nothing may come between this look and what follows it.
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

/** However it ends. Throws the signal's reason when that aborts first. */
async function ended(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const settled = promise.catch(() => undefined);
  await abortable(settled, signal);
}

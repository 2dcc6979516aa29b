/**
 * Limits how many queries run at once. The others wait in a queue, and leave it when their client disconnects. The next
 * query is one of the owner with the fewest running queries, and among those, the one that came first. No owner exceeds
 * its limit.
 *
 * A query that was ended but still runs in the engine can be left behind: it still counts for its owner, but its slot
 * no longer counts for the others.
 */
import { exception } from "./exception.js";

export interface Slots<T> {
  /** Waits for a free slot. Rejects if the owner's queue is too long, or with the signal's reason. */
  take(owner: string, signal: AbortSignal): Promise<T>;
  give(owner: string, slot: T): void;
  /**
   * Marks a slot whose query does not end. Until it ends, another slot may be used instead, as long as there is one.
   */
  leaveBehind(slot: T): void;
  /** Number of slots that are left behind now. */
  leftBehind(): number;
}

export interface SlotLimits {
  /** Maximum at once, not counting those that are left behind. */
  readonly maxTaken: number;
  /** Per owner. */
  readonly maxWaiting: number;
  readonly maxRunning: number;
}

interface Waiting<T> {
  readonly owner: string;
  readonly serve: (slot: T) => void;
}

/** @param free the last one is taken first */
export function createSlots<T>(free: T[], limits: SlotLimits): Slots<T> {
  const queue = new Set<Waiting<T>>();
  const running = new Map<string, number>();
  const leftBehind = new Set<T>();
  let taken = 0;
  const runningOf = (owner: string) => running.get(owner) ?? 0;
  const hasCapacity = () => taken - leftBehind.size < limits.maxTaken;

  function next(): Waiting<T> | undefined {
    let best: Waiting<T> | undefined;
    for (const waiting of queue) {
      if (runningOf(waiting.owner) >= limits.maxRunning) continue;
      if (best === undefined || runningOf(waiting.owner) < runningOf(best.owner)) best = waiting;
    }
    return best;
  }

  function serveQueue(): void {
    for (let waiting = next(); waiting !== undefined && hasCapacity(); waiting = next()) {
      const slot = free.pop();
      if (slot === undefined) return;
      taken += 1;
      queue.delete(waiting);
      running.set(waiting.owner, runningOf(waiting.owner) + 1);
      waiting.serve(slot);
    }
  }

  return {
    take(owner, signal) {
      const ahead = [...queue].filter((waiting) => waiting.owner === owner).length;
      if (ahead >= limits.maxWaiting) {
        return Promise.reject(
          exception(
            "TOO_MANY_SIMULTANEOUS_QUERIES",
            `Too many simultaneous queries: ${limits.maxWaiting} are waiting`,
          ),
        );
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          queue.delete(waiting);
          reject(exception("QUERY_WAS_CANCELLED", "The client disconnected before the query started"));
        };
        const waiting: Waiting<T> = {
          owner,
          serve(slot) {
            signal.removeEventListener("abort", leave);
            resolve(slot);
          },
        };
        if (signal.aborted) return leave();
        queue.add(waiting);
        signal.addEventListener("abort", leave, { once: true });
        serveQueue();
      });
    },
    give(owner, slot) {
      running.set(owner, runningOf(owner) - 1);
      taken -= 1;
      leftBehind.delete(slot);
      free.push(slot);
      serveQueue();
    },
    leaveBehind(slot) {
      leftBehind.add(slot);
      serveQueue();
    },
    leftBehind: () => leftBehind.size,
  };
}

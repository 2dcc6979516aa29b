/**
 * Bounds how many queries run at once. The others wait in line, and leave it when their client goes away. The next query from the
 * line belongs to the owner with the fewest running, and among those, to whoever came first. No owner has more than its share.
 *
 * A query that was ended but goes on in the engine can be left behind: it still counts for its owner, and somebody else may have its place.
 */
import { exception } from "./exception.js";

export interface Slots<T> {
  /** Waits for a free slot. Rejects when the owner's line is too long, or with the signal's reason. */
  take(owner: string, signal: AbortSignal): Promise<T>;
  give(owner: string, slot: T): void;
  /** The query that holds this slot does not end. Until it does, another slot has its place, as long as there is one. */
  leaveBehind(slot: T): void;
  /** How many are left behind now. */
  leftBehind(): number;
}

export interface SlotLimits {
  /** At once, not counting those that are left behind. */
  readonly maxTaken: number;
  /** Of each owner. */
  readonly maxWaiting: number;
  readonly maxRunning: number;
}

interface Waiting<T> {
  readonly owner: string;
  readonly serve: (slot: T) => void;
}

/** @param free the last one is taken first. */
export function createSlots<T>(free: T[], limits: SlotLimits): Slots<T> {
  const line = new Set<Waiting<T>>();
  const running = new Map<string, number>();
  const left = new Set<T>();
  let taken = 0;
  const runningOf = (owner: string) => running.get(owner) ?? 0;
  const hasPlace = () => taken - left.size < limits.maxTaken;

  function next(): Waiting<T> | undefined {
    let best: Waiting<T> | undefined;
    for (const waiting of line) {
      if (runningOf(waiting.owner) >= limits.maxRunning) continue;
      if (best === undefined || runningOf(waiting.owner) < runningOf(best.owner)) best = waiting;
    }
    return best;
  }

  function serveLine(): void {
    for (let waiting = next(); waiting !== undefined && hasPlace(); waiting = next()) {
      const slot = free.pop();
      if (slot === undefined) return;
      taken += 1;
      line.delete(waiting);
      running.set(waiting.owner, runningOf(waiting.owner) + 1);
      waiting.serve(slot);
    }
  }

  return {
    take(owner, signal) {
      const ahead = [...line].filter((waiting) => waiting.owner === owner).length;
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
          line.delete(waiting);
          reject(exception("QUERY_WAS_CANCELLED", "The client disconnected before the query started"));
        };
        const waiting: Waiting<T> = {
          owner,
          serve(given) {
            signal.removeEventListener("abort", leave);
            resolve(given);
          },
        };
        if (signal.aborted) return leave();
        line.add(waiting);
        signal.addEventListener("abort", leave, { once: true });
        serveLine();
      });
    },
    give(owner, slot) {
      running.set(owner, runningOf(owner) - 1);
      taken -= 1;
      left.delete(slot);
      free.push(slot);
      serveLine();
    },
    leaveBehind(slot) {
      left.add(slot);
      serveLine();
    },
    leftBehind: () => left.size,
  };
}

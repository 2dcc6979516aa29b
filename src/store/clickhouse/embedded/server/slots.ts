/**
 * Bounds how many queries run at once. The others wait in line, and leave it when their client goes away. The next query from the
 * line belongs to the owner with the fewest running, and among those, to whoever came first. No owner has more than its share.
 */
import { exception } from "./exception.js";

export interface Slots<T> {
  /** Waits for a free slot. Rejects when the owner's line is too long, or with the signal's reason. */
  take(owner: string, signal: AbortSignal): Promise<T>;
  give(owner: string, slot: T): void;
}

export interface SlotLimits {
  /** Of each owner. */
  readonly maxWaiting: number;
  readonly maxRunning: number;
}

interface Waiting<T> {
  readonly owner: string;
  readonly serve: (slot: T) => void;
}

export function createSlots<T>(free: T[], limits: SlotLimits): Slots<T> {
  const line = new Set<Waiting<T>>();
  const running = new Map<string, number>();
  const runningOf = (owner: string) => running.get(owner) ?? 0;

  function next(): Waiting<T> | undefined {
    let best: Waiting<T> | undefined;
    for (const waiting of line) {
      if (runningOf(waiting.owner) >= limits.maxRunning) continue;
      if (best === undefined || runningOf(waiting.owner) < runningOf(best.owner)) best = waiting;
    }
    return best;
  }

  function serveLine(): void {
    for (let waiting = next(); waiting !== undefined; waiting = next()) {
      const slot = free.pop();
      if (slot === undefined) return;
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
      free.push(slot);
      serveLine();
    },
  };
}

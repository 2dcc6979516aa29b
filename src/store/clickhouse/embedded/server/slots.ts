/** Bounds how many queries run at once; the others wait in line, and leave it when their client goes away. */
import { exception } from "./exception.js";

export interface Slots<T> {
  /** Waits for a free slot. Rejects when the line is too long, or with the signal's reason. */
  take(signal: AbortSignal): Promise<T>;
  give(slot: T): void;
}

interface Waiting<T> {
  readonly serve: (slot: T) => void;
}

export function createSlots<T>(free: T[], maxWaiting: number): Slots<T> {
  const line = new Set<Waiting<T>>();
  return {
    take(signal) {
      const slot = free.pop();
      if (slot !== undefined) return Promise.resolve(slot);
      if (line.size >= maxWaiting) {
        return Promise.reject(
          exception(
            "TOO_MANY_SIMULTANEOUS_QUERIES",
            `Too many simultaneous queries: ${maxWaiting} are waiting`,
          ),
        );
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          line.delete(waiting);
          reject(exception("QUERY_WAS_CANCELLED", "The client left before the query started"));
        };
        const waiting: Waiting<T> = {
          serve(given) {
            signal.removeEventListener("abort", leave);
            resolve(given);
          },
        };
        line.add(waiting);
        signal.addEventListener("abort", leave, { once: true });
      });
    },
    give(slot) {
      const [next] = line;
      if (next === undefined) free.push(slot);
      else {
        line.delete(next);
        next.serve(slot);
      }
    },
  };
}

/**
 * Whether stores respond: asked once for all tenants on a store, and not again for a moment. What changes is logged once, so that a
 * store that is away fills no log.
 */
import type { Logger } from "pino";

export interface StoreProbes {
  /** Asks unless that was done a moment ago. `store` is its name, for people. */
  responds(store: string, ask: (signal: AbortSignal) => Promise<unknown>): Promise<boolean>;
  /** Somebody failed with the store: it is asked again before it is believed to respond. */
  doubt(store: string): void;
}

/** How long what was said counts, and how long a store may take to say something. */
export const CACHE_MS = 2_000;
export const PROBE_MS = 1_500;

export function createStoreProbes(clock: () => Date, logger: Logger): StoreProbes {
  const asked = new Map<string, { readonly at: number; readonly answer: Promise<boolean> }>();
  const change = createChangeLog(logger);
  return {
    responds(store, ask) {
      const now = clock().getTime();
      const known = asked.get(store);
      if (known !== undefined && Math.abs(now - known.at) < CACHE_MS) return known.answer;
      const signal = AbortSignal.timeout(PROBE_MS);
      const answer = inTime(ask(signal), signal).then(
        () => {
          change.good(store, { store }, "a store responds again");
          return true;
        },
        (error: unknown) => {
          change.bad(store, { err: error, store }, "a store does not respond");
          return false;
        },
      );
      asked.set(store, { at: now, answer });
      return answer;
    },
    doubt: (store) => void asked.delete(store),
  };
}

/** Logs that something is bad, and that it is good again: each once, however often it is seen. */
export interface ChangeLog {
  bad(what: string, details: object, message: string): void;
  good(what: string, details: object, message: string): void;
}

export function createChangeLog(logger: Logger): ChangeLog {
  const bad = new Set<string>();
  return {
    bad(what, details, message) {
      if (bad.has(what)) return;
      bad.add(what);
      logger.warn(details, message);
    },
    good(what, details, message) {
      if (bad.delete(what)) logger.info(details, message);
    },
  };
}

/** What is not there in time is not waited for; what fails later is nobody's business any more. */
export async function inTime<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  answer.catch(() => undefined);
  return await Promise.race([answer, late]);
}

/**
 * Probes whether stores respond. One probe serves all tenants of a store, and its result is cached for a moment. Only
 * changes are logged, so that a store that is down does not fill the log.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";

export interface StoreProbes {
  /**
   * Returns the cached result, or probes the store by `probe`.
   *
   * @param store display name of the store
   */
  responds(store: string, probe: (signal: AbortSignal) => Promise<unknown>): Promise<boolean>;
  /** Discards the cached result, because a request to the store has failed. */
  doubt(store: string): void;
}

/** How long the result of a probe is cached. */
export const CACHE_MS = 2_000;
/** How long a request waits for a probe. */
export const PROBE_MS = 1_500;
/** A store that is silent for so long does not respond. Before that, it may only be busy. */
export const SILENCE_MS = 15_000;

interface Probe {
  readonly at: number;
  readonly outcome: Promise<boolean>;
  isOver: boolean;
}

/** A store that responded before counts as responding until it has been silent for `silenceMs`. */
export function createStoreProbes(clock: () => Date, logger: Logger, silenceMs = SILENCE_MS): StoreProbes {
  const probes = new Map<string, Probe>();
  const responded = new Set<string>();
  const change = createChangeLog(logger);
  const start = (store: string, probeStore: (signal: AbortSignal) => Promise<unknown>): Probe => {
    const signal = AbortSignal.timeout(silenceMs);
    const outcome = inTime(probeStore(signal), signal).then(
      () => {
        responded.add(store);
        change.good(store, { store }, "a store responds again");
        return true;
      },
      (error: unknown) => {
        responded.delete(store);
        change.bad(store, { err: error, store }, "a store does not respond");
        return false;
      },
    );
    const probe: Probe = { at: clock().getTime(), outcome, isOver: false };
    void outcome.then(() => {
      probe.isOver = true;
    });
    probes.set(store, probe);
    return probe;
  };
  return {
    async responds(store, probe) {
      const known = probes.get(store);
      const isFresh =
        known !== undefined && (!known.isOver || Math.abs(clock().getTime() - known.at) < CACHE_MS);
      const { outcome } = isFresh ? known : start(store, probe);
      const late = delay(PROBE_MS, undefined, { ref: false }).then(() => responded.has(store));
      return await Promise.race([outcome, late]);
    },
    doubt: (store) => void probes.delete(store),
  };
}

/** Logs when a thing turns bad and when it is good again, each time only once, however often that is reported. */
export interface ChangeLog {
  bad(name: string, details: object, message: string): void;
  good(name: string, details: object, message: string): void;
}

export function createChangeLog(logger: Logger): ChangeLog {
  const bad = new Set<string>();
  return {
    bad(name, details, message) {
      if (bad.has(name)) return;
      bad.add(name);
      logger.warn(details, message);
    },
    good(name, details, message) {
      if (bad.delete(name)) logger.info(details, message);
    },
  };
}

/** Rejects when the signal aborts. A result or an error that comes later is ignored. */
export async function inTime<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  promise.catch(() => undefined);
  return await Promise.race([promise, late]);
}

/**
 * Whether stores respond: asked once for all tenants on a store, and not again for a moment. What changes is logged once, so that a
 * store that is away fills no log.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";

export interface StoreProbes {
  /** Asks unless that was done a moment ago. `store` is its name, for people. */
  responds(store: string, ask: (signal: AbortSignal) => Promise<unknown>): Promise<boolean>;
  /** Somebody failed with the store: it is asked again before it is believed to respond. */
  doubt(store: string): void;
}

/** How long what was said counts, and how long a reader waits for a store to say something. */
export const CACHE_MS = 2_000;
export const PROBE_MS = 1_500;
/** A store that is asked and says nothing for so long does not respond. Before that, it may only be busy. */
export const SILENCE_MS = 15_000;

interface Probe {
  readonly at: number;
  readonly outcome: Promise<boolean>;
  isOver: boolean;
}

/** A store that responded before, and is late now, counts as responding until its silence has lasted `silenceMs`. */
export function createStoreProbes(clock: () => Date, logger: Logger, silenceMs = SILENCE_MS): StoreProbes {
  const probes = new Map<string, Probe>();
  const responded = new Set<string>();
  const change = createChangeLog(logger);
  const start = (store: string, ask: (signal: AbortSignal) => Promise<unknown>): Probe => {
    const signal = AbortSignal.timeout(silenceMs);
    const outcome = inTime(ask(signal), signal).then(
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
    async responds(store, ask) {
      const known = probes.get(store);
      const isFresh =
        known !== undefined && (!known.isOver || Math.abs(clock().getTime() - known.at) < CACHE_MS);
      const { outcome } = isFresh ? known : start(store, ask);
      const late = delay(PROBE_MS, undefined, { ref: false }).then(() => responded.has(store));
      return await Promise.race([outcome, late]);
    },
    doubt: (store) => void probes.delete(store),
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

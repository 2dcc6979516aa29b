/**
 * Limits the requests to an upstream: how many at once, and how fast. Upstreams count per credential, so all clients of
 * the process with the same credential and host share one limit.
 */
import { setTimeout as delay } from "node:timers/promises";

export interface Pace {
  /** Maximum number of concurrent requests. */
  readonly concurrency: number;
  /**
   * Average time between the starts of two requests, in milliseconds; 0 for none. It is shorter if the upstream reports
   * a higher limit.
   */
  readonly minIntervalMs: number;
  /**
   * Number of requests that may start at once after a pause, before the interval applies. Default 1: it always applies.
   */
  readonly burst?: number;
}

export interface RateLimit {
  /**
   * Runs `work` when a slot is free and its turn has come. While it waits, an aborted signal rejects at once with its
   * reason. A caller that waits before a retry must do so outside of `work`, so that its slot is free.
   */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Delays all starts by `ms`, because the upstream requested a pause for this credential. */
  pause(ms: number): void;
  /** Adapts the pace to the limit that the upstream reported, but never makes it slower than configured. */
  learn(quota: Quota): void;
  /** Releases the limit. The last release removes it. */
  release(): void;
}

/** A limit that an upstream reported: the number of remaining requests until the count is reset. */
export interface Quota {
  readonly remaining: number;
  readonly resetMs: number;
}

/** Share of the remaining requests that one process uses, because others may use the credential as well. */
const OUR_SHARE = 0.5;

interface SharedLimit {
  concurrency: number;
  /** The interval that the clients have configured. */
  minIntervalMs: number;
  /** The current interval: the configured one, or a shorter one from the last reported limit. */
  intervalMs: number;
  burst: number;
  running: number;
  readonly waiting: (() => void)[];
  /**
   * Time at which the requests started so far would be done at one per interval. It is a token bucket, expressed as a
   * time.
   */
  paidUntil: number;
  pausedUntil: number;
  users: number;
}

const limits = new Map<string, SharedLimit>();

/**
 * Returns the shared limit of a key, such as a hash of host and credential. If clients configure different paces, the
 * slower one applies.
 */
export function openRateLimit(key: string, pace: Pace): RateLimit {
  const shared = limits.get(key) ?? {
    concurrency: pace.concurrency,
    minIntervalMs: pace.minIntervalMs,
    intervalMs: pace.minIntervalMs,
    burst: pace.burst ?? 1,
    running: 0,
    waiting: [],
    paidUntil: 0,
    pausedUntil: 0,
    users: 0,
  };
  shared.concurrency = Math.min(shared.concurrency, pace.concurrency);
  shared.minIntervalMs = Math.max(shared.minIntervalMs, pace.minIntervalMs);
  shared.intervalMs = shared.minIntervalMs;
  shared.burst = Math.min(shared.burst, pace.burst ?? 1);
  shared.users += 1;
  limits.set(key, shared);
  return {
    run: (work, signal) => runLimited(shared, work, signal),
    pause: (ms) => {
      shared.pausedUntil = Math.max(shared.pausedUntil, performance.now() + ms);
      // A pause must not save up a burst, or all requests would start at once after it.
      shared.intervalMs = shared.minIntervalMs;
      const spent = shared.pausedUntil + (shared.burst - 1) * shared.minIntervalMs;
      shared.paidUntil = Math.max(shared.paidUntil, spent);
    },
    learn: ({ remaining, resetMs }) => {
      const fair = remaining > 0 ? resetMs / (remaining * OUR_SHARE) : Number.POSITIVE_INFINITY;
      shared.intervalMs = Math.min(shared.minIntervalMs, fair);
      // Requests so far are charged at the new interval. Otherwise the old pace would continue for a while.
      const spent = Math.max(performance.now(), shared.pausedUntil) + shared.burst * shared.intervalMs;
      shared.paidUntil = Math.min(shared.paidUntil, spent);
    },
    release: () => {
      shared.users -= 1;
      if (shared.users === 0 && limits.get(key) === shared) limits.delete(key);
    },
  };
}

async function runLimited<T>(limit: SharedLimit, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  await acquireSlot(limit, signal);
  try {
    await waitForTurn(limit, signal);
    return await work();
  } finally {
    releaseSlot(limit);
  }
}

/**
 * Waits for a free slot, first come, first served. A released slot is handed to the next in the queue, so nobody
 * overtakes.
 */
function acquireSlot(limit: SharedLimit, signal: AbortSignal): Promise<void> {
  if (limit.running < limit.concurrency) {
    limit.running += 1;
    return Promise.resolve();
  }
  return new Promise((resolve, reject) => {
    const enter = () => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    };
    const giveUp = () => {
      limit.waiting.splice(limit.waiting.indexOf(enter), 1);
      reject(signal.reason);
    };
    limit.waiting.push(enter);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

function releaseSlot(limit: SharedLimit): void {
  const next = limit.running > limit.concurrency ? undefined : limit.waiting.shift();
  if (next === undefined) limit.running -= 1;
  else next();
}

/**
 * Waits until the next start is due. Checks again after each wait, because the upstream may have requested a longer
 * pause meanwhile.
 */
async function waitForTurn(limit: SharedLimit, signal: AbortSignal): Promise<void> {
  for (let wait = untilStart(limit); wait > 0; wait = untilStart(limit)) {
    await delay(wait, undefined, { signal });
  }
  limit.paidUntil = Math.max(limit.paidUntil, performance.now()) + limit.intervalMs;
}

function untilStart({ paidUntil, pausedUntil, burst, intervalMs }: SharedLimit): number {
  return Math.max(pausedUntil, paidUntil - (burst - 1) * intervalMs) - performance.now();
}

/**
 * How many requests go to an upstream at once, and how fast one after another. Upstreams count per credential, so all
 * clients of the process that use the same credential on the same host pass through one gate.
 */
import { setTimeout as delay } from "node:timers/promises";

export interface Pace {
  /** Requests under way at the same time. */
  readonly concurrency: number;
  /** Time between the starts of two requests in the long run, in milliseconds; 0 for none. Less, where the upstream says how many it takes. */
  readonly minIntervalMs: number;
  /** Requests that may start at once after a pause, before the interval holds. Default 1: it always holds. */
  readonly burst?: number;
}

export interface RateLimit {
  /**
   * Runs `work` when there is room and its turn has come. Rejects at once with the signal's reason when it is aborted
   * while waiting. A caller that sleeps before it tries again must do so outside of `work`, so that its place is free.
   */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Lets nobody start before so many milliseconds from now: the upstream asked everybody of this credential to wait. */
  pause(ms: number): void;
  /** The upstream has said how many requests it takes: paces by that, never slower than agreed. */
  learn(quota: Quota): void;
  /** Hands the gate back; the last one to do so removes it. */
  release(): void;
}

/** What an upstream says of its limit: so many requests are left until the count starts anew. */
export interface Quota {
  readonly remaining: number;
  readonly resetMs: number;
}

/** Part of what is left that one process takes: others may use the credential too. */
const OUR_SHARE = 0.5;

interface SharedLimit {
  concurrency: number;
  /** As agreed by the clients. */
  minIntervalMs: number;
  /** As it is kept now: as agreed, or less by what the upstream said last. */
  intervalMs: number;
  burst: number;
  running: number;
  readonly waiting: (() => void)[];
  /** When the requests started so far would be through at one an interval: the bucket of tokens, as a time. */
  paidUntil: number;
  heldUntil: number;
  users: number;
}

const gates = new Map<string, SharedLimit>();

/** The gate of a key, such as a hash of host and credential. Clients that disagree on the pace get the gentler one. */
export function openRateLimit(key: string, pace: Pace): RateLimit {
  const shared = gates.get(key) ?? {
    concurrency: pace.concurrency,
    minIntervalMs: pace.minIntervalMs,
    intervalMs: pace.minIntervalMs,
    burst: pace.burst ?? 1,
    running: 0,
    waiting: [],
    paidUntil: 0,
    heldUntil: 0,
    users: 0,
  };
  shared.concurrency = Math.min(shared.concurrency, pace.concurrency);
  shared.minIntervalMs = Math.max(shared.minIntervalMs, pace.minIntervalMs);
  shared.intervalMs = shared.minIntervalMs;
  shared.burst = Math.min(shared.burst, pace.burst ?? 1);
  shared.users += 1;
  gates.set(key, shared);
  return {
    run: (work, signal) => pass(shared, work, signal),
    pause: (ms) => {
      shared.heldUntil = Math.max(shared.heldUntil, performance.now() + ms);
      // Nobody has saved anything up while waiting: else all would come back at once.
      shared.intervalMs = shared.minIntervalMs;
      const spent = shared.heldUntil + (shared.burst - 1) * shared.minIntervalMs;
      shared.paidUntil = Math.max(shared.paidUntil, spent);
    },
    learn: ({ remaining, resetMs }) => {
      const fair = remaining > 0 ? resetMs / (remaining * OUR_SHARE) : Number.POSITIVE_INFINITY;
      shared.intervalMs = Math.min(shared.minIntervalMs, fair);
      // Starts so far are paid for at the new price, or the old pace would go on for a while.
      const spent = Math.max(performance.now(), shared.heldUntil) + shared.burst * shared.intervalMs;
      shared.paidUntil = Math.min(shared.paidUntil, spent);
    },
    release: () => {
      shared.users -= 1;
      if (shared.users === 0 && gates.get(key) === shared) gates.delete(key);
    },
  };
}

async function pass<T>(gate: SharedLimit, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  await place(gate, signal);
  try {
    await turn(gate, signal);
    return await work();
  } finally {
    leave(gate);
  }
}

/** Waits for a free place, first come, first served. A place that is left is handed over, so nobody overtakes. */
function place(gate: SharedLimit, signal: AbortSignal): Promise<void> {
  if (gate.running < gate.concurrency) {
    gate.running += 1;
    return Promise.resolve();
  }
  return new Promise((resolve, reject) => {
    const enter = () => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    };
    const giveUp = () => {
      gate.waiting.splice(gate.waiting.indexOf(enter), 1);
      reject(signal.reason);
    };
    gate.waiting.push(enter);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

function leave(gate: SharedLimit): void {
  const next = gate.running > gate.concurrency ? undefined : gate.waiting.shift();
  if (next === undefined) gate.running -= 1;
  else next();
}

/** Waits until a start is due. Asks again after the sleep: the upstream may have asked for a longer pause meanwhile. */
async function turn(gate: SharedLimit, signal: AbortSignal): Promise<void> {
  for (let wait = untilStart(gate); wait > 0; wait = untilStart(gate)) {
    await delay(wait, undefined, { signal });
  }
  gate.paidUntil = Math.max(gate.paidUntil, performance.now()) + gate.intervalMs;
}

function untilStart({ paidUntil, heldUntil, burst, intervalMs }: SharedLimit): number {
  return Math.max(heldUntil, paidUntil - (burst - 1) * intervalMs) - performance.now();
}

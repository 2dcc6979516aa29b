/** What is worth another attempt, and how long to wait before it. */
import type { IncomingHttpHeaders } from "node:http";
import type { Quota } from "./rate-limit.js";

export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly attempts: number;
  /** The wait before the second attempt is about this; it doubles with each further one. */
  readonly baseDelayMs: number;
  /** No wait is longer, whatever the upstream asks for. */
  readonly maxDelayMs: number;
  /** A wait that the upstream asks for is at least this: many round theirs down, also to 0. */
  readonly minAskedMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 5,
  baseDelayMs: 1000,
  maxDelayMs: 60_000,
  minAskedMs: 0,
};

/** Too early, too slow, too many, or a server in trouble. All requests to upstreams are reads, so repeating them is safe. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

export function isRetriedStatus(status: number): boolean {
  return RETRIED_STATUSES.has(status);
}

/** Below this, a reset value is a number of seconds from now; above, seconds since 1970 (10^9 was in 2001). */
const EPOCH_FROM = 1e9;

/**
 * Milliseconds that the upstream asks us to wait, or undefined when it says nothing that can be understood. Times of day are by the
 * upstream's own clock, where it says what that is.
 */
export function askedWaitMs(headers: IncomingHttpHeaders, ours: number): number | undefined {
  const now = clockOf(headers) ?? ours;
  const retryAfter = first(headers["retry-after"]);
  const asked =
    retryAfter === undefined ? undefined : (secondsMs(retryAfter, now) ?? dateMs(retryAfter, now));
  if (asked !== undefined) return asked;
  for (const name of ["ratelimit-reset", "x-ratelimit-reset"]) {
    const reset = first(headers[name]);
    const wait = reset === undefined ? undefined : secondsMs(reset, now);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** What an answer says of the limit, in either spelling; undefined when it does not say both. */
export function quotaOf(headers: IncomingHttpHeaders, ours: number): Quota | undefined {
  const now = clockOf(headers) ?? ours;
  for (const name of ["x-ratelimit", "ratelimit"]) {
    const remaining = first(headers[`${name}-remaining`]);
    const reset = first(headers[`${name}-reset`]);
    const resetMs = reset === undefined ? undefined : secondsMs(reset, now);
    if (remaining === undefined || !/^\d{1,9}$/.test(remaining) || resetMs === undefined) continue;
    return { remaining: Number(remaining), resetMs };
  }
  return undefined;
}

/**
 * The wait before attempt number `next` (2, 3, …). With a word from the upstream: that, and up to a fifth more, so that its
 * clients do not all come back in the same moment. Without: exponential, with the upper half at random.
 */
export function waitMs(
  policy: RetryPolicy,
  next: number,
  asked: number | undefined,
  random = Math.random,
): number {
  const exponential = policy.baseDelayMs * 2 ** (next - 2) * (0.5 + random() / 2);
  const wait = asked === undefined ? exponential : Math.max(asked, policy.minAskedMs) * (1 + random() / 5);
  return Math.min(wait, policy.maxDelayMs);
}

function clockOf({ date = "" }: IncomingHttpHeaders): number | undefined {
  const now = Date.parse(date);
  return Number.isNaN(now) ? undefined : now;
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function secondsMs(text: string, now: number): number | undefined {
  if (!/^\s*\d{1,15}(\.\d+)?\s*$/.test(text)) return undefined;
  const seconds = Number(text);
  return Math.max(0, seconds < EPOCH_FROM ? seconds * 1000 : seconds * 1000 - now);
}

function dateMs(text: string, now: number): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

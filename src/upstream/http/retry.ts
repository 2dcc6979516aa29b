/** Retries with exponential backoff: which responses are retried, and how long to wait. */
import type { IncomingHttpHeaders } from "node:http";
import type { Quota } from "./rate-limit.js";

export interface RetryPolicy {
  /** Maximum attempts, including the first one. */
  readonly attempts: number;
  /** Approximate wait before the second attempt. It doubles with each further one. */
  readonly baseDelayMs: number;
  /** Maximum wait, even if the upstream requests a longer one. */
  readonly maxDelayMs: number;
  /** Minimum wait if the upstream requests one. Many upstreams round it down, some to 0. */
  readonly minRequestedWaitMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 5,
  baseDelayMs: 1000,
  maxDelayMs: 60_000,
  minRequestedWaitMs: 0,
};

/**
 * Statuses for too early, too slow, too many requests, and server errors. All requests to upstreams are reads, so a
 * retry is safe.
 */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

export function isRetriedStatus(status: number): boolean {
  return RETRIED_STATUSES.has(status);
}

/** Smaller reset values are seconds from now, larger ones are seconds since 1970 (10^9 was in 2001). */
const EPOCH_FROM = 1e9;

/**
 * Returns the wait in milliseconds that the upstream requests, or undefined without a valid one. Times of day refer to
 * the upstream's own clock if the response has its time.
 */
export function requestedWaitOf(headers: IncomingHttpHeaders, ourNow: number): number | undefined {
  const now = clockOf(headers) ?? ourNow;
  const retryAfter = first(headers["retry-after"]);
  const requested =
    retryAfter === undefined ? undefined : (secondsMs(retryAfter, now) ?? dateMs(retryAfter, now));
  if (requested !== undefined) return requested;
  for (const name of ["ratelimit-reset", "x-ratelimit-reset"]) {
    const reset = first(headers[name]);
    const wait = reset === undefined ? undefined : secondsMs(reset, now);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** Returns the limit that a response reports, in either spelling. Undefined unless it has both values. */
export function quotaOf(headers: IncomingHttpHeaders, ourNow: number): Quota | undefined {
  const now = clockOf(headers) ?? ourNow;
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
 * Returns the wait before attempt number `next` (2, 3, …). If the upstream requested a wait, it is that wait plus up to
 * 20 % of jitter, so that clients do not all retry at the same moment. Otherwise it is exponential backoff with jitter:
 * a random time between half and all of it.
 */
export function backoffMs(
  policy: RetryPolicy,
  next: number,
  requested: number | undefined,
  random = Math.random,
): number {
  const exponential = policy.baseDelayMs * 2 ** (next - 2) * (0.5 + random() / 2);
  const wait =
    requested === undefined
      ? exponential
      : Math.max(requested, policy.minRequestedWaitMs) * (1 + random() / 5);
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

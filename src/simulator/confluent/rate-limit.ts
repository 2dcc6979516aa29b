/** Limits requests in fixed windows, and reports it in the vendor's headers. Seconds are relative. */

export interface SimulatedRateLimit {
  readonly requests: number;
  readonly seconds: number;
}

export interface RateLimitResult {
  readonly headers: Readonly<Record<string, string>>;
  /** Seconds to wait, if the request exceeds the limit. */
  readonly wait: number | undefined;
}

/** Default limit, which no client reaches. */
const DEFAULT_LIMIT: SimulatedRateLimit = { requests: 1_000_000, seconds: 60 };

export function createRateLimit(
  limit: SimulatedRateLimit = DEFAULT_LIMIT,
  now: () => number,
): { count(): RateLimitResult } {
  let [windowStart, used] = [Number.NEGATIVE_INFINITY, 0];
  return {
    count() {
      const at = now() / 1000;
      if (at - windowStart >= limit.seconds) [windowStart, used] = [at, 0];
      used += 1;
      const reset = Math.max(1, Math.ceil(windowStart + limit.seconds - at));
      return {
        headers: {
          "x-ratelimit-limit": String(limit.requests),
          "x-ratelimit-remaining": String(Math.max(0, limit.requests - used)),
          "x-ratelimit-reset": String(reset),
        },
        wait: used > limit.requests ? reset : undefined,
      };
    },
  };
}

/** Counts requests in fixed windows, and says so in the vendor's headers; seconds are relative. */

export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

export interface Counted {
  readonly headers: Readonly<Record<string, string>>;
  /** Seconds to wait, when it was one too many. */
  readonly wait: number | undefined;
}

/** What is told when nothing is enforced. */
const GENEROUS: RateLimit = { requests: 1_000_000, seconds: 60 };

export function createRateLimit(limit: RateLimit = GENEROUS, now: () => number): { count(): Counted } {
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

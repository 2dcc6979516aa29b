/**
 * Limits how many queries a user may send in a minute: a token bucket that refills evenly, so that a dashboard with
 * many panels passes at once.
 */
import { exception } from "../exception.js";

export interface Quotas {
  /** Counts one query. Throws if the user has none left. */
  count(user: string): void;
}

const MINUTE_MS = 60_000;

export function createQuotas(
  maxPerMinute: number,
  now: () => number = performance.now.bind(performance),
): Quotas {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    count(user) {
      const at = now();
      const bucket = buckets.get(user) ?? { left: maxPerMinute, at };
      const left = Math.min(maxPerMinute, bucket.left + ((at - bucket.at) * maxPerMinute) / MINUTE_MS);
      if (left < 1) {
        buckets.set(user, { left, at });
        throw exception(
          "QUOTA_EXCEEDED",
          `Quota of ${maxPerMinute} queries a minute is used up, try again in a while`,
        );
      }
      buckets.set(user, { left: left - 1, at });
    },
  };
}

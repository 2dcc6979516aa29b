/**
 * Slows down attempts to guess passwords. After too many wrong passwords for a user from an address, the user has to
 * wait at that address, even with the correct password, so that a refusal reveals nothing. Users that do not exist are
 * counted like existing ones.
 */
import { createHash } from "node:crypto";
import { normalizeIP } from "@fastify/rate-limit";
import { LRUCache } from "lru-cache";
import { exception, ServerException } from "../exception.js";

export interface SqlSignOnLimiter {
  /**
   * Returns the result of `signOn`, and counts its failures. Throws without calling it while the user has to wait at
   * the address.
   */
  during<Account>(address: string | undefined, user: string, signOn: () => Account): Account;
}

const WINDOW_MS = 60_000;
const MAX_FAILURES = 10;
/** Maximum number of pairs of address and user. */
const MAX_ENTRIES = 10_000;

export function createFailedSignOns(
  now: () => number = performance.now.bind(performance),
  maxEntries = MAX_ENTRIES,
): SqlSignOnLimiter {
  const failures = new LRUCache<string, { readonly count: number; readonly since: number }>({
    max: maxEntries,
  });
  return {
    during(address, user, signOn) {
      const key = keyOf(address, user);
      const entry = failures.get(key);
      const current = entry !== undefined && now() - entry.since < WINDOW_MS ? entry : undefined;
      if (current !== undefined && current.count >= MAX_FAILURES) {
        const seconds = Math.ceil((current.since + WINDOW_MS - now()) / 1000);
        throw exception(
          "QUOTA_EXCEEDED",
          `Too many wrong passwords of this user from this address, try again in ${seconds} seconds`,
        );
      }
      try {
        return signOn();
      } catch (error) {
        if (error instanceof ServerException && error.type === "AUTHENTICATION_FAILED") {
          failures.set(key, { count: (current?.count ?? 0) + 1, since: current?.since ?? now() });
        }
        throw error;
      }
    },
  };
}

/** Hashes the key to a fixed length. For IPv6, the network of 64 bits counts, which usually belongs to one customer. */
function keyOf(address: string | undefined, user: string): string {
  const from = address === undefined ? "" : normalizeIP(address);
  return createHash("sha256")
    .update(JSON.stringify([from, user]))
    .digest("base64");
}

/**
 * Slows down whoever tries out passwords. A user whose password was wrong too often at an address has to wait there, with the right one
 * too: what is refused tells nothing. Users that do not exist are counted like those that do.
 */
import { createHash } from "node:crypto";
import { normalizeIP } from "@fastify/rate-limit";
import { setNewest } from "../../../../set-newest.js";
import { exception, ServerException } from "../exception.js";

export interface FailedSignOns {
  /** Returns what `signOn` returns, and counts what it refuses. Throws without calling it while the user has to wait at the address. */
  during<Account>(address: string | undefined, user: string, signOn: () => Account): Account;
}

const WINDOW_MS = 60_000;
const MOST_FAILURES = 10;
/** Pairs of address and user that are remembered: the oldest are forgotten first. */
const MOST_REMEMBERED = 10_000;

export function createFailedSignOns(
  now: () => number = performance.now.bind(performance),
  mostRemembered = MOST_REMEMBERED,
): FailedSignOns {
  const failures = new Map<string, { count: number; readonly since: number }>();
  return {
    during(address, user, signOn) {
      const key = keyOf(address, user);
      const known = failures.get(key);
      const current = known !== undefined && now() - known.since < WINDOW_MS ? known : undefined;
      if (current !== undefined && current.count >= MOST_FAILURES) {
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
          const failed = { count: (current?.count ?? 0) + 1, since: current?.since ?? now() };
          setNewest(failures, key, failed, mostRemembered);
        }
        throw error;
      }
    },
  };
}

/** Of one length, whatever a client sends. Of IPv6, the network of 64 bits counts, which is one customer's. */
function keyOf(address: string | undefined, user: string): string {
  const from = address === undefined ? "" : normalizeIP(address);
  return createHash("sha256")
    .update(JSON.stringify([from, user]))
    .digest("base64");
}

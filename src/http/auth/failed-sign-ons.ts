/** Limits failed sign-ons per address. */
import { createHash } from "node:crypto";
import { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { ApiError } from "../errors.js";
import { withoutPort } from "../server/trusted-proxies.js";

/** Credentials are a header `Authorization`, the secret of a session, or the code of a sign-in. */
export interface FailedSignOns {
  /** Throws while the address of the request is over the limit. */
  refuse(
    request: FastifyRequest,
    credentials: string | undefined,
    setRetryAfter: (seconds: number) => void,
  ): Promise<void>;
  /** Without credentials, nothing is counted. */
  failed(request: FastifyRequest, credentials: string | undefined): Promise<void>;
  succeeded(credentials: string | undefined): void;
}

/**
 * How many valid credentials are cached. The rate limit itself keeps the last 5,000
 * addresses.
 */
const MOST_CACHED = 10_000;
const MINUTE_MS = 60_000;

/** @param app has `@fastify/rate-limit` */
export function failedSignOns(app: FastifyInstance, mostPerMinute: number): FailedSignOns {
  const limit = app.createRateLimit({
    max: mostPerMinute,
    timeWindow: MINUTE_MS,
    keyGenerator: addressOf,
  });
  // Many clients may share the address of a proxy. Those whose credentials were valid a moment ago are not limited by
  // the others.
  const good = new LRUCache<string, true>({ max: MOST_CACHED });
  return {
    async refuse(request, credentials, setRetryAfter) {
      const digest = digestOf(credentials);
      if (digest === undefined || good.has(digest)) return;
      const state = await limit(request, { increment: false });
      if (state.isAllowed || state.remaining > 0) return;
      setRetryAfter(state.ttlInSeconds);
      throw new ApiError(
        "too_many_failed_sign_ons",
        `Too many credentials from this address were not valid. Try again in ${state.ttlInSeconds} seconds.`,
      );
    },
    async failed(request, credentials) {
      const digest = digestOf(credentials);
      if (digest === undefined) return;
      good.delete(digest);
      const state = await limit(request);
      if (!state.isAllowed && state.remaining === 0 && !state.isExceeded)
        request.log.warn({ address: request.ip }, "too many failed sign-ons from an address; it has to wait");
    },
    succeeded(credentials) {
      const digest = digestOf(credentials);
      if (digest !== undefined) good.set(digest, true);
    },
  };
}

/**
 * Returns an empty text if the client has disconnected. Of an IPv6 address, returns its /64 network, since a customer
 * has a whole one.
 */
export function addressOf({ ip }: { readonly ip: string | undefined }): string {
  return ip === undefined ? "" : normalizeIP(withoutPort(ip));
}

function digestOf(credentials: string | undefined): string | undefined {
  return credentials && createHash("sha256").update(credentials).digest("base64");
}

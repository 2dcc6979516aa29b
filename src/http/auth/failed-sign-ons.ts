/** Slows down whoever tries out credentials: an address that sends many that are none has to wait before others are looked at. */
import { createHash } from "node:crypto";
import { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { setNewest } from "../../store/set-newest.js";
import { ApiError } from "../errors.js";
import { withoutPort } from "../server/trusted-proxies.js";

export interface FailedSignOns {
  /** Throws while the request's address has to wait. */
  refuse(request: FastifyRequest, setRetryAfter: (seconds: number) => void): Promise<void>;
  failed(request: FastifyRequest): Promise<void>;
  succeeded(request: FastifyRequest): void;
}

/** Credentials that are remembered: the oldest are forgotten first. Of addresses, the limit remembers the last 5,000. */
const MOST_CACHED = 10_000;
const MINUTE_MS = 60_000;

/** @param app has `@fastify/rate-limit` */
export function failedSignOns(app: FastifyInstance, mostPerMinute: number): FailedSignOns {
  const limit = app.createRateLimit({
    max: mostPerMinute,
    timeWindow: MINUTE_MS,
    keyGenerator: addressOf,
  });
  // Many may come from one address, by way of a proxy: those whose credentials were good a moment ago need not wait for the others.
  const good = new Map<string, true>();
  return {
    async refuse(request, setRetryAfter) {
      const digest = digestOf(request);
      if (digest === undefined || good.has(digest)) return;
      const state = await limit(request, { increment: false });
      if (state.isAllowed || state.remaining > 0) return;
      setRetryAfter(state.ttlInSeconds);
      throw new ApiError(
        "too_many_failed_sign_ons",
        `Too many credentials from this address were not valid. Try again in ${state.ttlInSeconds} seconds.`,
      );
    },
    async failed(request) {
      const digest = digestOf(request);
      if (digest === undefined) return;
      good.delete(digest);
      const state = await limit(request);
      if (!state.isAllowed && state.remaining === 0 && !state.isExceeded)
        request.log.warn({ address: request.ip }, "too many failed sign-ons from an address; it has to wait");
    },
    succeeded(request) {
      const digest = digestOf(request);
      if (digest !== undefined) setNewest(good, digest, true, MOST_CACHED);
    },
  };
}

/** Undefined once the client is gone. Of IPv6, the network of 64 bits, which is one customer's. */
export function addressOf({ ip }: { readonly ip: string | undefined }): string {
  return ip === undefined ? "" : normalizeIP(withoutPort(ip));
}

/** Of the credentials that a client sent; undefined where it sent none, which tries out nothing. */
function digestOf({ headers: { authorization } }: FastifyRequest): string | undefined {
  return authorization && createHash("sha256").update(authorization).digest("base64");
}

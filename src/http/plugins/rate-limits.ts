/**
 * Limits the requests of a caller per minute, counted in this process. The counts of the last 5,000 callers are kept.
 */
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { addressOf } from "../auth/failed-sign-ons.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";

const MINUTE_MS = 60_000;

export const rateLimits = fp<Pick<HttpContext, "config">>(
  async (app, { config: { api } }) => {
    const limit = app.createRateLimit({
      max: api.rate_limit.max_per_minute,
      timeWindow: MINUTE_MS,
      keyGenerator: callerOf,
    });
    app.addHook("onRequest", async (request, reply) => {
      const { scope, quiet } = request.routeOptions.config;
      // Unknown paths, public routes and routes that monitoring polls are not limited.
      if (request.is404 || scope === "public" || quiet === true) return;
      const state = await limit(request);
      if (state.isAllowed || !state.isExceeded) return;
      reply.header("retry-after", String(state.ttlInSeconds));
      throw new ApiError(
        "too_many_requests",
        `More than ${state.max} requests in a minute (api.rate_limit.max_per_minute). Try again in ${state.ttlInSeconds} seconds.`,
      );
    });
  },
  // Runs after authentication: the limit is per token or user, and per address if there is none.
  { name: "rate-limits", dependencies: ["access"] },
);

function callerOf(request: FastifyRequest): string {
  const { kind, name, tokenId } = request.caller;
  return name === null ? addressOf(request) : `${kind} ${tokenId ?? name}`;
}

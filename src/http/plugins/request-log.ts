/** Gives each request an id, and logs and counts it at its end. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";
import { problemPath } from "../problem.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** True for routes that monitoring polls: their requests are logged at the level `debug`. */
    quiet?: boolean;
  }
}

/** Characters that need no escaping in a log line or a header. */
const USABLE = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/**
 * Takes `X-Request-Id` from the client if it is usable, or generates one. It is in the log and in every response. For
 * Fastify's `genReqId`.
 */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && USABLE.test(given) ? given : randomUUID();
}

export const requestId = fp(
  async (app) => {
    app.addHook("onRequest", async (request, reply) => {
      reply.header("x-request-id", request.id);
    });
  },
  { name: "request-id" },
);

/** Writes one log line and records one observation for Prometheus for each finished request. */
export const requestLog = fp<Pick<HttpContext, "metrics">>(
  async (app, { metrics }) => {
    app.addHook("onResponse", async (request, reply) => {
      const { caller, routeOptions } = request;
      const { url: route = "unknown", config } = routeOptions;
      const labels = { method: request.method, route, status: String(reply.statusCode) };
      metrics.requests.observe(labels, reply.elapsedTime / 1000);
      request.log[config.quiet === true ? "debug" : "info"](
        {
          method: request.method,
          path: problemPath(request.url),
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime),
          ...(caller.name !== null && { caller: caller.name }),
        },
        "request",
      );
    });
  },
  { name: "request-log" },
);

/** Writes one log line and records one observation for Prometheus for each finished request. */
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";
import { problemPath } from "../problem.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** True for routes that monitoring polls: their requests are logged at the level `debug`. */
    quiet?: boolean;
  }
}

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

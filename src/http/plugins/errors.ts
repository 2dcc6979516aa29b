/** Sends an error response for each exception of a hook or a handler. */
import type { Server } from "node:http";
import type { FastifyHttpOptions } from "fastify";
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";
import { PROBLEM_TYPE, problemOf, sendProblem, toApiError } from "../problem.js";
import { allowedOrigin } from "./host-and-origin.js";
import { ClientGoneError } from "./time-limit.js";

export const errors = fp(
  async (app) => {
    app.setErrorHandler((error, request, reply) => {
      if (error instanceof ClientGoneError) return reply.code(499).send();
      return sendProblem(error, request, reply);
    });
  },
  { name: "errors" },
);

type FrameworkErrors = NonNullable<FastifyHttpOptions<Server>["frameworkErrors"]>;

/**
 * Handler for Fastify's `frameworkErrors`, which occur before all hooks. It sets the CORS headers itself, because the
 * hooks of the CORS plugin have not run.
 */
export function sendFrameworkError(api: HttpContext["config"]["api"]): FrameworkErrors {
  return (error, request, { raw }) => {
    const problem = problemOf(toApiError(error, request));
    const headers = { "content-type": PROBLEM_TYPE, "x-request-id": request.id };
    const origin = allowedOrigin(api, request.headers.origin);
    raw
      .writeHead(problem.status, {
        ...headers,
        ...(origin && { "access-control-allow-origin": origin, vary: "Origin" }),
      })
      .end(JSON.stringify(problem));
  };
}

/**
 * Aborts a request when its client disconnects or its time is up. Every handler passes the signal to the stores. When
 * it aborts, the response is sent without waiting for the handler. `wrapHandler` lets other plugins wait inside the
 * time limit.
 */
import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import fp from "fastify-plugin";
import type { Interruption } from "../../postgres/transaction.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * Aborts with a 504 when the time is up before the response has begun. Aborts at any time when the client
     * disconnects.
     */
    stopSignal: AbortSignal;
    /**
     * The same for writes. Before the commit, the time limit is switched off, so that the response reports the result.
     */
    interruption: Interruption;
  }
}

/** The client closed the connection before the end of the response. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

export const timeLimit = fp<Pick<HttpContext, "config">>(
  async (app, { config }) => {
    const seconds = config.api.request_timeout_seconds;
    const stops = new WeakMap<FastifyRequest, AbortController>();
    const timers = new WeakMap<FastifyRequest, NodeJS.Timeout>();
    app.decorateRequest("stopSignal");
    app.decorateRequest("interruption");
    app.addHook("onRequest", async (request, reply) => {
      const stop = new AbortController();
      stops.set(request, stop);
      request.stopSignal = stop.signal;
      const beforeCommit = () => {
        stop.signal.throwIfAborted();
        clearTimeout(timers.get(request));
      };
      request.interruption = { signal: stop.signal, beforeCommit };
      reply.raw.once("close", () => {
        if (!reply.raw.writableFinished) stop.abort(new ClientGoneError("the client closed the connection"));
      });
    });
    app.addHook("onRoute", (route) =>
      wrapHandler(route, async (request, _reply, handle) => {
        const stop = stops.get(request);
        if (stop === undefined) throw new Error("the request has no signal: its onRequest hook has not run");
        const timer = setTimeout(() => stop.abort(timeout(seconds)), seconds * 1000);
        timers.set(request, timer);
        try {
          return await Promise.race([handle(), rejectionOf(stop.signal)]);
        } finally {
          clearTimeout(timer);
        }
      }),
    );
  },
  // Wraps all other wrappers: every wait of a request counts.
  { name: "time-limit", dependencies: ["tag-mirror"] },
);

function timeout(seconds: number): ApiError {
  const detail = `The response took longer than the timeout of ${seconds} seconds (api.request_timeout_seconds); its query was cancelled, and nothing was changed.`;
  return new ApiError("request_timeout", detail);
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/**
 * Wraps the handler of a route. Call it in an `onRoute` hook. If several plugins wrap a handler, the one registered
 * last is the outermost.
 *
 * A `preHandler` hook would not do: the time that a plugin waits before the handler counts against the time limit, so
 * it has to wait inside the wrapper that measures it.
 */
export function wrapHandler(
  route: RouteOptions,
  wrap: (request: FastifyRequest, reply: FastifyReply, handle: () => Promise<unknown>) => Promise<unknown>,
): void {
  const { handler } = route;
  route.handler = function (request, reply) {
    // A handler that returns nothing sends its response by the reply. The reply is thenable.
    return wrap(request, reply, async () => await (handler.call(this, request, reply) ?? reply));
  };
}

/**
 * When to stop working on a request: its client has gone, or its time is up. Every handler passes the signal down to the
 * stores, and is not waited for when it aborts.
 */
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { Interruption } from "../../store/postgres/transaction.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { wrapHandler } from "../wrap-handler.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Aborts with a 504 when the time is up, until the answer has begun; and when the client leaves, to the end. */
    stopSignal: AbortSignal;
    /** The same for what changes something: once that cannot be undone, the time limit is off, and the answer says how it went. */
    interruption: Interruption;
  }
}

/** The client closed the connection before it had its answer. */
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
        if (stop === undefined) throw new Error("a request without its signal");
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
  // Wraps all the others: whatever a request waits for counts.
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

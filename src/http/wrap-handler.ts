/** Lets plugins wrap the handlers of routes. */
import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";

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

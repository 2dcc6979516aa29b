/** How a plugin does something around the handlers of routes. */
import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";

/**
 * For `onRoute` hooks. Of several plugins that wrap a handler, the one that is registered last is the outermost.
 *
 * Not a `preHandler` hook: what waits before the handler counts against the time limit, and so has to run inside it.
 */
export function wrapHandler(
  route: RouteOptions,
  wrap: (request: FastifyRequest, reply: FastifyReply, handle: () => Promise<unknown>) => Promise<unknown>,
): void {
  const { handler } = route;
  route.handler = function (request, reply) {
    // A handler that returns nothing answers through the reply, which can be waited for.
    return wrap(request, reply, async () => await (handler.call(this, request, reply) ?? reply));
  };
}

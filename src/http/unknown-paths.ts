/** 404 and 405, before a body is read. */
import type { FastifyInstance, HTTPMethods } from "fastify";
import { ApiError } from "./errors.js";
import { pathOf, sendProblem } from "./problem.js";

const methods: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Call before the first route; call what it returns behind the last one. The pages of /docs look after themselves. */
export function refuseUnknownPaths(app: FastifyInstance): () => void {
  const taken = new Map<string, Set<HTTPMethods>>();
  // Of files under /docs that are not there.
  app.setNotFoundHandler((request, reply) =>
    sendProblem(new ApiError("path_not_found", notFoundDetail(pathOf(request.url))), request, reply),
  );
  app.addHook("onRequest", async (request) => {
    // CORS has a route for all paths there are not.
    if (request.is404 || request.routeOptions.url === "*")
      throw new ApiError("path_not_found", notFoundDetail(pathOf(request.url)));
  });
  app.addHook("onRoute", ({ url, method }) => {
    const known = taken.get(url) ?? new Set();
    for (const each of [method].flat()) known.add(each as HTTPMethods);
    taken.set(url, known);
  });
  return () => {
    for (const [url, known] of [...taken]) {
      if (url.includes("*") || url.startsWith("/docs")) continue;
      refuseMethods(app, url, [...known]);
    }
  };
}

function refuseMethods(app: FastifyInstance, url: string, allowed: readonly HTTPMethods[]): void {
  const refused = methods.filter((method) => !allowed.includes(method));
  const allow = allowed.join(", ");
  app.route({
    method: refused,
    url,
    schema: { hide: true },
    onRequest: async (request, reply) => {
      reply.header("allow", allow);
      throw new ApiError("method_not_allowed", `${request.method} is not allowed here. Allowed: ${allow}.`);
    },
    handler: async () => undefined,
  });
}

function notFoundDetail(path: string): string {
  if (path.length > 1 && path.endsWith("/"))
    return "The API has no such path. Paths have no slash at their end.";
  return "The API has no such path. GET /openapi.json describes all that there are.";
}

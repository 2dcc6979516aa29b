/** Responds with 404 to an unknown path, and with 405 to an unknown method of a known one, before the body is read. */
import type { FastifyContextConfig, FastifyInstance, HTTPMethods } from "fastify";
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { problemPath, sendProblem } from "../problem.js";

declare module "fastify" {
  interface FastifyInstance {
    /** Call it after the last route is registered. */
    refuseUnknownMethods(): void;
  }
}

export const unknownPaths = fp<Pick<HttpContext, "mode">>(
  async (app, { mode }) => {
    const notFoundDetail = (path: string) =>
      mode === "worker"
        ? "A worker has /health, /metrics and /api/v1/readiness only."
        : apiPathNotFound(path);
    // Missing files under /docs.
    app.setNotFoundHandler((request, reply) =>
      sendProblem(new ApiError("path_not_found", notFoundDetail(problemPath(request.url))), request, reply),
    );
    app.addHook("onRequest", async (request) => {
      // The CORS plugin adds the route `*`.
      if (request.is404 || request.routeOptions.url === "*")
        throw new ApiError("path_not_found", notFoundDetail(problemPath(request.url)));
    });
  },
  { name: "unknown-paths" },
);

function apiPathNotFound(path: string): string {
  if (path.length > 1 && path.endsWith("/"))
    return "The API has no such path. Paths do not end with a slash.";
  return "The API has no such path. GET /openapi.json describes all paths.";
}

interface Path {
  readonly methods: Set<HTTPMethods>;
  readonly config: FastifyContextConfig | undefined;
}

const methods: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export const unknownMethods = fp(
  async (app) => {
    const paths = new Map<string, Path>();
    app.addHook("onRoute", ({ url, method, config }) => {
      const path = paths.get(url) ?? { methods: new Set(), config };
      for (const name of [method].flat()) path.methods.add(name as HTTPMethods);
      paths.set(url, path);
    });
    app.decorate("refuseUnknownMethods", () => {
      for (const [url, path] of [...paths]) {
        // The plugin of /docs handles its own paths.
        if (!url.includes("*") && !url.startsWith("/docs")) refuseOthers(app, url, path);
      }
    });
  },
  { name: "unknown-methods" },
);

function refuseOthers(app: FastifyInstance, url: string, { methods: allowed, config }: Path): void {
  const allow = [...allowed].join(", ");
  app.route({
    method: methods.filter((method) => !allowed.has(method)),
    url,
    // Use the config of the path, such as its allowed hosts and log level.
    ...(config && { config }),
    schema: { hide: true },
    onRequest: async (request, reply) => {
      reply.header("allow", allow);
      throw new ApiError("method_not_allowed", `${request.method} is not allowed here. Allowed: ${allow}.`);
    },
    handler: async () => undefined,
  });
}

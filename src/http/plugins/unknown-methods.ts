/** Responds with 405 to a known path with an unknown method, before the body is read. */
import type { FastifyContextConfig, FastifyInstance, HTTPMethods } from "fastify";
import fp from "fastify-plugin";
import { ApiError } from "../errors.js";

declare module "fastify" {
  interface FastifyInstance {
    /** Call it after the last route is registered. */
    refuseUnknownMethods(): void;
  }
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

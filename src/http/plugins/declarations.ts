/**
 * Throws at startup if a route does not declare a mandatory property of its config, so that no route misses a check
 * silently.
 */
import type { FastifyContextConfig } from "fastify";
import fp from "fastify-plugin";

const mandatory = ["scope", "heavy", "etag", "showsTags"] as const satisfies (keyof FastifyContextConfig)[];

/** Checks routes that are registered after it in the same Fastify scope. */
export const declarations = fp(
  async (app) => {
    app.addHook("onRoute", ({ method, url, config }) => {
      const missing = mandatory.filter((name) => config?.[name] === undefined);
      if (missing.length > 0)
        throw new Error(`${[method].flat().join()} ${url} must declare in its config: ${missing.join(", ")}`);
    });
  },
  { name: "declarations", dependencies: ["access", "admission", "revalidation", "tag-mirror"] },
);

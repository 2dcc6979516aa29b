/** A route that does not say what it needs is an error at the start: else it would quietly go without. */
import type { FastifyContextConfig } from "fastify";
import fp from "fastify-plugin";

const mandatory = ["scope", "heavy", "etag", "showsTags"] as const satisfies (keyof FastifyContextConfig)[];

/** Of the routes that are registered behind it, in the same scope. */
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

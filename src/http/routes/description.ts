/** Serves the description of the API at `/openapi.json`. */
import type { FastifyPluginAsync } from "fastify";

export const descriptionRoutes = (): FastifyPluginAsync => async (app) => {
  app.get(
    "/openapi.json",
    {
      config: { scope: "any", publicAs: "docs", heavy: false, etag: false, showsTags: false },
      schema: { hide: true },
    },
    async () => app.swagger(),
  );
};

/**
 * `/health` reports that the process runs. It checks nothing else, so that a slow store never gets the process
 * restarted.
 */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import type { HttpContext } from "../context.js";
import { healthSchema } from "../schemas/readiness.js";

export const healthRoutes =
  ({ version }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/health",
      {
        config: { scope: "public", heavy: false, etag: false, showsTags: false, anyHost: true, quiet: true },
        schema: {
          operationId: "getHealth",
          tags: ["Health"],
          summary: "Liveness",
          description:
            "Returns 200 as long as the process runs, under any `Host` and with any query. Never waits for a store.",
          querystring: Type.Object({}, { additionalProperties: true }),
          response: { 200: healthSchema },
        },
      },
      async () => ({ status: "ok" as const, version }),
    );
  };

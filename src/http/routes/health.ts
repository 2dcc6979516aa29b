/** `/health`: the process is there. Looks at nothing else, so that a slow store never gets the process restarted. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { HttpContext } from "../context.js";
import { problemResponses } from "../schemas/problem.js";
import { Health } from "../schemas/readiness.js";

export const healthRoutes =
  ({ version }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/health",
      {
        schema: {
          operationId: "getHealth",
          tags: ["Health"],
          summary: "Liveness",
          description: "Answers as long as the process runs. Never waits for a store.",
          response: { 200: Health, ...problemResponses() },
        },
      },
      async () => ({ status: "ok" as const, version }),
    );
  };

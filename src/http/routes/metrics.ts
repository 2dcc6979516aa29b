/** Serves metrics to Prometheus at `/metrics`. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import type { HttpContext } from "../context.js";
import { problemResponses } from "../schemas/problem.js";

export const metricsRoutes =
  ({ metrics: { registry } }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/metrics",
      {
        config: {
          scope: "read",
          publicAs: "metrics",
          everyTenant: true,
          heavy: false,
          etag: false,
          showsTags: false,
          quiet: true,
        },
        schema: {
          operationId: "getMetrics",
          tags: ["Health"],
          summary: "Metrics",
          description:
            "Metrics of the process, of requests and of pipeline runs, in the text format of Prometheus.",
          response: {
            200: {
              description: "Metrics in the text format of Prometheus.",
              content: {
                "text/plain": {
                  schema: Type.String(),
                  example: 'chargehouse_runs_total{tenant="acme",status="completed"} 12\n',
                },
              },
            },
            ...problemResponses(),
          },
        },
      },
      async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()),
    );
  };

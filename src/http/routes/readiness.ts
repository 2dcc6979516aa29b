/** Reports at `/api/v1/readiness` which tenants the service can serve. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { mayForTenant } from "../auth/caller.js";
import type { HttpContext } from "../context.js";
import { isReady, readinessReader } from "../readiness.js";
import { choiceSchema } from "../schemas/fields.js";
import { inputOf } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";
import { readinessSchema } from "../schemas/readiness.js";

const Query = inputOf({
  strict: choiceSchema(["false", "true", "all"], {
    description:
      "`true`: 503 with the same body unless the status is `ready` or `no_data`; for load balancers, since one tenant's dead store does not " +
      "drain the instance. `all`: 503 also unless every tenant can be served with all of its days; for deployments and alerts.",
    default: "false",
  }),
});

export const readinessRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const readiness = readinessReader(context);
    app.get(
      "/readiness",
      {
        config: { scope: "read", publicAs: "readiness", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getReadiness",
          tags: ["Health"],
          summary: "Readiness",
          description:
            "State of the store and the pipeline of each tenant that the caller may see. Computed at most every 2 seconds.",
          querystring: Query,
          response: {
            200: readinessSchema,
            ...problemResponses("request_timeout"),
            503: {
              description:
                "With `strict`: nothing, or not everything, can be served. The same object as with 200.",
              content: {
                "application/json": {
                  schema: readinessSchema,
                  example: { status: "initializing", version: "0.1.0", mode: "api", tenants: [] },
                },
              },
            },
          },
        },
      },
      async ({ query, caller }, reply) => {
        const response = await readiness();
        const { strict = "false" } = query;
        const isOk = strict === "false" || isReady(response, strict === "all" ? "all" : "some");
        const tenants = response.tenants.filter(({ tenant_name }) =>
          mayForTenant(caller, "read", tenant_name),
        );
        return reply.code(isOk ? 200 : 503).send({ ...response, tenants });
      },
    );
  };

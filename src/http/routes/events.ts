/** Events on the time line of costs. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import { readEvents } from "../../query/state/events.js";
import { type HttpContext, tenantRead } from "../context.js";
import { costEventSchema } from "../schemas/event.js";
import { dateRange, inputOf, tenantPathSchema } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";

export const eventRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/events",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listEvents",
          tags: ["Chargebacks"],
          summary: "Events that explain costs over time",
          description:
            "Days from which other rules apply, and days that newer deliveries of a bill changed. For rules, a day is compared with the last one with costs before " +
            "it, of at most 31 days before the period.",
          params: tenantPathSchema,
          querystring: inputOf({ ...dateRange }),
          response: {
            200: Type.Array(costEventSchema, { description: "The events." }),
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        const { postgres } = context.stores;
        return readEvents({ client, postgres }, request.tenant.tenant_name, request.window, signal);
      },
    );
  };

/** Sums of chargebacks. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readAggregate } from "../../query/chargebacks/aggregate.js";
import { createBucketLimitCache } from "../../query/chargebacks/bucket-limit-cache.js";
import { type HttpContext, tenantRead } from "../context.js";
import { aggregateParameters, aggregationSchema } from "../schemas/aggregate.js";
import {
  chargebackFilters,
  dateRange,
  inputOf,
  tagFilters,
  tenantPathSchema,
  timezone,
} from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";

export const aggregateRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const limits = createBucketLimitCache();
    app.get(
      "/tenants/:tenant_name/chargebacks/aggregate",
      {
        config: {
          scope: "read",
          heavy: true,
          etag: { ledger: "chargebacks", cached: true },
          showsTags: true,
        },
        schema: {
          operationId: "aggregateChargebacks",
          tags: ["Chargebacks"],
          summary: "Sums of chargebacks",
          description:
            "Amounts by time bucket and columns. Sums are exact, and equal to those of the listed rows.",
          params: tenantPathSchema,
          querystring: inputOf({
            ...aggregateParameters,
            ...dateRange,
            ...timezone,
            ...chargebackFilters,
            ...tagFilters,
          }),
          response: {
            200: aggregationSchema,
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { group_by: groupBy, time_bucket: timeBucket, ...filters } = request.query;
        const { client, signal } = await tenantRead(context, request);
        const input = { window: request.window, filters, groupBy, timeBucket };
        const cache = limits.ofTenant(request.tenant.tenant_name, () => request.publishedDays());
        return readAggregate(client, input, { signal, cache });
      },
    );
  };

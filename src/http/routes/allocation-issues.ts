/** Allocation issues. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readAllocationIssues } from "../../query/chargebacks/allocation-issues.js";
import { type HttpContext, tenantRead } from "../context.js";
import { allocationIssueSchema, causeFilters } from "../schemas/allocation-issue.js";
import { envelope, pageSchema } from "../schemas/page.js";
import {
  chargebackFilters,
  dateRange,
  inputOf,
  paging,
  tagFilters,
  tenantPathSchema,
  timezone,
} from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";

const ORDER =
  "The most expensive first, then by ecosystem, env_id, resource_id, product_type, identity_id, allocation_detail, currency.";

export const allocationIssueRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/chargebacks/allocation-issues",
      {
        config: {
          scope: "read",
          heavy: true,
          etag: { ledger: "chargebacks", cached: true },
          showsTags: true,
        },
        schema: {
          operationId: "listAllocationIssues",
          tags: ["Chargebacks"],
          summary: "Allocation issues",
          description:
            "Chargeback rows that need attention, because no payer was found, or only by a fallback, summed by the " +
            `columns that they have in common. Rows that were allocated by design are not included. ${ORDER}`,
          params: tenantPathSchema,
          querystring: inputOf({
            ...paging,
            ...dateRange,
            ...timezone,
            ...chargebackFilters,
            ...causeFilters,
            ...tagFilters,
          }),
          response: {
            200: pageSchema(allocationIssueSchema, ORDER),
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { page, page_size, ...filters } = request.query;
        const { client, signal } = await tenantRead(context, request);
        const input = { page, page_size, window: request.window, filters };
        return envelope(await readAllocationIssues(client, input, signal), request.query);
      },
    );
  };

/** Billing line items. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { billingKey, type BillingLineItem as Row, readBillingPages } from "../../query/billing/list.js";
import { type HttpContext, tenantRead } from "../context.js";
import { createListReader } from "../plugins/pagination.js";
import { billingLineItemSchema } from "../schemas/billing.js";
import { cursorParameter, pageSchema } from "../schemas/page.js";
import {
  dateRange,
  inputOf,
  lineFilters,
  paging,
  tenantPathSchema,
  timezone,
} from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";

const ORDER = "By UTC day, resource_id, product_type, environment, product_category, timestamp.";
const cursors = { kind: "billing", columns: billingKey };

export const billingRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const readList = createListReader<Row>();
    app.get(
      "/tenants/:tenant_name/billing",
      {
        config: {
          scope: "read",
          heavy: false,
          etag: { ledger: "chargebacks", cached: true },
          showsTags: false,
          cursors,
        },
        schema: {
          operationId: "listBilling",
          tags: ["Billing"],
          summary: "Billing line items",
          description: `The costs as the upstream billed them. ${ORDER}`,
          params: tenantPathSchema,
          querystring: inputOf({
            ...paging,
            ...cursorParameter,
            ...dateRange,
            ...timezone,
            ...lineFilters,
          }),
          response: {
            200: pageSchema(billingLineItemSchema, ORDER),
            ...notModified,
            ...problemResponses("tenant_not_found", "invalid_cursor", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        return await readList(request, (input) => readBillingPages(client, input, signal));
      },
    );
  };

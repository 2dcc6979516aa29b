/** Billing line items. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { billingKey, readBillingPage } from "../../query/billing-list.js";
import { dateWindow } from "../../query/date-window.js";
import { type HttpContext, tenantRead } from "../context.js";
import { cursorPage } from "../cursor-page.js";
import { isUnchanged } from "../revalidate.js";
import { BillingLineItem } from "../schemas/billing.js";
import { cursorParameter, envelope, pageOf } from "../schemas/page.js";
import { billingFilters, dateRange, inputOf, paging, TenantPath, timezone } from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";

const ORDER = "By UTC day, resource_id, product_type, environment, product_category, timestamp.";
const cursors = { kind: "billing", columns: billingKey };

export const billingRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/billing",
      {
        schema: {
          operationId: "listBilling",
          tags: ["Billing"],
          summary: "Billing line items",
          description: `The raw costs, as the upstream billed them. ${ORDER}`,
          params: TenantPath,
          querystring: inputOf({
            ...paging,
            ...cursorParameter,
            ...dateRange,
            ...timezone,
            ...billingFilters,
          }),
          response: {
            200: pageOf(BillingLineItem, ORDER),
            ...notModified,
            ...problemResponses("tenant_not_found", "invalid_cursor", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request, reply) => {
        const { page, page_size, cursor, ...filters } = request.query;
        const window = dateWindow(filters, request.tenant.lookback_days, context.clock());
        const { place, nextCursor } = cursorPage(request, cursors, { page, cursor }, filters);
        if (await isUnchanged(context, request, reply, window)) return reply.code(304).send(undefined);
        const { client, signal } = await tenantRead(context, request);
        const found = await readBillingPage(client, { page, page_size, place, window, filters }, signal);
        return envelope({ ...found, next_cursor: nextCursor(found.next) }, { page, page_size });
      },
    );
  };

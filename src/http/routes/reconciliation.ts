/** Whether the bill is what was charged. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readDaysAddedUp } from "../../query/state/days-add-up.js";
import { type HttpContext, tenantRead } from "../context.js";
import { dateRange, inputOf, TenantPath } from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";
import { Reconciliation, reconciliationParameters } from "../schemas/reconciliation.js";

export const reconciliationRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/reconciliation",
      {
        config: { scope: "read", heavy: true, etag: { ledger: "chargebacks" }, showsTags: false },
        schema: {
          operationId: "reconcile",
          tags: ["Billing"],
          summary: "Whether the bill is what was charged",
          description:
            "Compares the chargebacks with the bill, line by line: the allocated and the unallocated amount add up to the bill, to the last digit.",
          params: TenantPath,
          querystring: inputOf({ ...dateRange, ...reconciliationParameters }),
          response: {
            200: Reconciliation,
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        return readDaysAddedUp(client, request.window, { byLine: request.query.by_line }, signal);
      },
    );
  };

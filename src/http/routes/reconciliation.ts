/** Compares the bill with its chargebacks. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readControlTotals } from "../../query/state/control-totals.js";
import { createSumsCache, readReconciledDays } from "../../query/state/reconcile-days.js";
import { type HttpContext, tenantRead } from "../context.js";
import { dateRange, inputOf, lineFilters, tenantPathSchema } from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";
import { reconciliationParameters, reconciliationSchema } from "../schemas/reconciliation.js";

export const reconciliationRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const sums = createSumsCache();
    app.get(
      "/tenants/:tenant_name/reconciliation",
      {
        config: { scope: "read", heavy: true, etag: { ledger: "chargebacks" }, showsTags: false },
        schema: {
          operationId: "reconcile",
          tags: ["Billing"],
          summary: "Comparison of the bill with its chargebacks",
          description:
            "Compares the chargebacks with the bill, line by line: the allocated and the unallocated amount add up to the bill, to the last digit. " +
            "Filters select whole lines with all of their chargebacks. `control` covers all rows that were delivered, whatever the dates and filters, and shows what happened to them.",
          params: tenantPathSchema,
          querystring: inputOf({ ...dateRange, ...reconciliationParameters, ...lineFilters }),
          response: {
            200: reconciliationSchema,
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        const { start_date: _, end_date: __, by_line: byLine, ...filters } = request.query;
        const cache = sums.ofTenant(request.tenant.tenant_name, () => request.publishedDays());
        const [reconciled, control] = await Promise.all([
          readReconciledDays(client, { window: request.window, filters, byLine }, { signal, cache }),
          readControlTotals(context.stores.postgres, request.tenant.tenant_name, { signal }),
        ]);
        return { ...reconciled, control };
      },
    );
  };

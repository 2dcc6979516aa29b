/** The largest groups of chargebacks. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { readBreakdown } from "../../query/chargebacks/breakdown.js";
import { dateWindow } from "../../query/time/date-window.js";
import { addDays, daysBetween } from "../../time/days.js";
import { type HttpContext, tenantRead } from "../context.js";
import { Breakdown, breakdownParameters } from "../schemas/breakdown.js";
import {
  chargebackFilters,
  dateRange,
  inputOf,
  TenantPath,
  tagFilters,
  timezone,
} from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";

export const breakdownRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/chargebacks/breakdown",
      {
        config: { heavy: true, etag: { ledger: "chargebacks" }, showsTags: true },
        schema: {
          operationId: "breakDownChargebacks",
          tags: ["Chargebacks"],
          summary: "The largest groups of chargebacks",
          description:
            "What costs most, or changed most: the largest groups of a period, all others together, and the totals; over time, and beside " +
            "the period before if you ask for it. Sums are exact.",
          params: TenantPath,
          querystring: inputOf({
            ...breakdownParameters,
            ...dateRange,
            ...timezone,
            ...chargebackFilters,
            ...tagFilters,
          }),
          response: {
            200: Breakdown,
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { window, query } = request;
        const {
          group_by: groupBy,
          time_bucket: timeBucket,
          limit,
          order,
          compare,
          search,
          ...filters
        } = query;
        const { client, signal } = await tenantRead(context, request);
        const comparedFrom = compare || order === "change" ? startOfPrevious(window) : undefined;
        const input = { window, comparedFrom, filters, groupBy, timeBucket, limit, order, search };
        return readBreakdown(client, input, signal);
      },
    );
  };

/** Seconds since 1970 at which as many days begin, just before the window. */
function startOfPrevious({
  startDate,
  endDate,
  timezone,
}: {
  startDate: string;
  endDate: string;
  timezone: string;
}): number {
  const first = addDays(startDate, -(daysBetween(startDate, endDate) + 1));
  return dateWindow({ start_date: first, end_date: startDate, timezone }, 1, new Date(0)).from;
}

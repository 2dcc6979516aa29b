/** The largest groups of chargebacks. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { type Static, Type } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import { readBreakdown } from "../../query/chargebacks/breakdown.js";
import { breakdownSql } from "../../query/chargebacks/breakdown-sql.js";
import { type BreakdownInput, isByChange, sortNames } from "../../query/chargebacks/breakdown-statements.js";
import { type HttpContext, tenantRead } from "../context.js";
import { comparedWindow } from "../input/compared-window.js";
import { requestedSort } from "../input/requested-sort.js";
import { causeFilters } from "../schemas/allocation-issue.js";
import { breakdownParameters, breakdownSchema } from "../schemas/breakdown.js";
import {
  chargebackFilters,
  dateRange,
  inputOf,
  tagFilters,
  tenantPathSchema,
  timezone,
} from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";

export const breakdownRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/chargebacks/breakdown",
      {
        config: {
          scope: "read",
          heavy: true,
          etag: { ledger: "chargebacks", from: readFrom, cached: true },
          showsTags: true,
        },
        schema: {
          operationId: "breakDownChargebacks",
          tags: ["Chargebacks"],
          summary: "The largest groups of chargebacks",
          description:
            "The first groups of a period in the order of `order`, the sums of all other groups, and the totals; on request also over time, and " +
            "with the sums of the previous period. Sums are exact.",
          params: tenantPathSchema,
          querystring: Query,
          response: {
            200: breakdownSchema,
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        return readBreakdown(client, breakdownInput(request), signal);
      },
    );

    app.get(
      "/tenants/:tenant_name/chargebacks/breakdown/sql",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getBreakdownSql",
          tags: ["Chargebacks"],
          summary: "A breakdown as SQL",
          description:
            "A statement over the views for BI tools, for the SQL port or your own server. It returns the same groups with the same sums, one row " +
            "for each group, or for each group and bucket with `time_bucket`. It does not return `parts`, `others`, `totals` and `movers`. Remove its last " +
            "line to get all groups. Dates that the request leaves out are those of today. `compare` cannot be combined with `time_bucket`.",
          params: tenantPathSchema,
          querystring: Query,
          response: {
            200: {
              description: "A statement in the SQL of ClickHouse.",
              content: { "text/plain": { schema: Type.String(), example: EXAMPLE } },
            },
            ...problemResponses("tenant_not_found"),
          },
        },
      },
      async (request, reply) =>
        reply.type("text/plain; charset=utf-8").send(breakdownSql(breakdownInput(request))),
    );
  };

const Query = inputOf({
  ...breakdownParameters,
  ...dateRange,
  ...timezone,
  ...chargebackFilters,
  ...causeFilters,
  ...tagFilters,
});

const EXAMPLE = `SELECT
  identity_id,
  currency,
  sum(amount) AS total_amount
FROM chargeback_details
WHERE date >= '2026-01-01'
  AND date <= '2026-01-31'
GROUP BY identity_id, currency
ORDER BY currency, identity_id = 'UNALLOCATED', abs(sum(amount)) DESC, identity_id
LIMIT 10 BY currency, identity_id = 'UNALLOCATED'
`;

function breakdownInput({
  window,
  query,
}: Pick<FastifyRequest, "window"> & { readonly query: Static<typeof Query> }): BreakdownInput {
  const {
    group_by: groupBy,
    time_bucket: timeBucket,
    limit,
    order: givenOrder,
    movers,
    compare,
    compare_start_date: comparedStart,
    compare_end_date: comparedEnd,
    search,
    cost,
    ...filters
  } = query;
  const order =
    givenOrder === "amount" || givenOrder === "change"
      ? givenOrder
      : requestedSort(givenOrder, [...sortNames, ...groupBy]);
  const isCompared = compare || isByChange(order) || movers > 0;
  const compared = isCompared ? comparedWindow(window, comparedStart, comparedEnd) : undefined;
  const [comparedFrom, comparedTo] = [compared?.from, compared?.to];
  const periods = { window, comparedFrom, comparedTo };
  return { ...periods, filters, groupBy, timeBucket, limit, order, movers, search, cost };
}

/**
 * Starts with the previous period if it is compared, because its changes change the response. The schema has validated
 * the query.
 */
const readFrom = ({ window, query }: FastifyRequest): number =>
  breakdownInput({ window, query: query as Static<typeof Query> }).comparedFrom ?? window.from;

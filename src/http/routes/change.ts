/** Why a sum of chargebacks changed. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { Static } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import { readChange } from "../../query/chargebacks/change.js";
import type { ChangeInput } from "../../query/chargebacks/change-statement.js";
import { type HttpContext, tenantRead } from "../context.js";
import { comparedWindow } from "../input/compared-window.js";
import { changeParameters, changeSchema } from "../schemas/change.js";
import {
  chargebackFilters,
  dateRange,
  inputOf,
  tagFilters,
  tenantPathSchema,
  timezone,
} from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";

export const changeRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/chargebacks/change",
      {
        config: {
          scope: "read",
          heavy: true,
          etag: { ledger: "chargebacks", from: readFrom, cached: true },
          showsTags: true,
        },
        schema: {
          operationId: "explainChange",
          tags: ["Chargebacks"],
          summary: "Why a sum of chargebacks changed",
          description:
            "The change of the matching chargebacks against the previous period, broken into causes that add up to it exactly: the quantity " +
            "on the bill, its price, the share of it that is charged, what is new or gone, and what is left. Lines of both periods are matched by resource, " +
            "product, product category, environment, SKU, charge category and currency.",
          params: tenantPathSchema,
          querystring: Query,
          response: {
            200: changeSchema,
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        return readChange(client, changeInput(request), signal);
      },
    );
  };

const Query = inputOf({
  ...changeParameters,
  ...dateRange,
  ...timezone,
  ...chargebackFilters,
  ...tagFilters,
});

function changeInput({
  window,
  query,
}: Pick<FastifyRequest, "window"> & { readonly query: Static<typeof Query> }): ChangeInput {
  const { group_by: groupBy, limit, compare_start_date: start, compare_end_date: end, ...filters } = query;
  const compared = comparedWindow(window, start, end);
  return { window, comparedFrom: compared.from, comparedTo: compared.to, filters, groupBy, limit };
}

/** The schema has validated the query. */
const readFrom = ({ window, query }: FastifyRequest): number =>
  changeInput({ window, query: query as Static<typeof Query> }).comparedFrom;

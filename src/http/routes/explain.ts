/** Explains the amount that a dimension was charged on a day. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { allocationOn } from "../../config/dated.js";
import { isPublished } from "../../query/chargebacks/explain/day.js";
import { readExplanation } from "../../query/chargebacks/explain/explanation.js";
import { type HttpContext, tenantRead } from "../context.js";
import { ApiError } from "../errors.js";
import { findDimension } from "../find-dimension.js";
import { explainParameters } from "../schemas/explain-parameters.js";
import { explanationSchema } from "../schemas/explanation.js";
import { inputOf } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";
import { dimensionPathSchema } from "../schemas/tag.js";

export const explainRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/chargebacks/:dimension_id/explain",
      {
        // No ETag, because the response shows the state of a run and the inventory, which change without a publish.
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "explainAmount",
          tags: ["Chargebacks"],
          summary: "Explanation of an amount",
          description:
            "The billing line, the rule and its components, the tiers that were tried and why others were passed over, all identities that share " +
            "the component with their weights and ticks, the usage by hour, the owner as of the day, and the run that published the day. The " +
            "amount can be calculated again from the response, to the last digit. If the dimension has several rows on the day (several hours, " +
            "components or currencies), all of them are listed and the first is explained.",
          params: dimensionPathSchema,
          querystring: inputOf(explainParameters),
          response: {
            200: explanationSchema,
            ...problemResponses(
              "tenant_not_found",
              "dimension_not_found",
              "row_not_found",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async (request) => {
        const dimension = await findDimension(context, request, request.params.dimension_id);
        const { client, signal } = await tenantRead(context, request);
        const stores = {
          client,
          postgres: context.stores.postgres,
          tenantName: request.tenant.tenant_name,
        };
        const explanation = await readExplanation(
          stores,
          {
            ...request.query,
            dimension,
            columns: request.tenant.line_columns,
            steps: allocationOn(request.tenant.allocation, request.query.date).pass_on,
          },
          signal,
        );
        if (explanation !== undefined) return explanation;
        const { date } = request.query;
        throw rowNotFound(dimension.dimension_id, date, await isPublished(client, date, signal));
      },
    );
  };

function rowNotFound(dimensionId: number, date: string, isPublishedDay: boolean): ApiError {
  const detail = isPublishedDay
    ? `Chargeback dimension ${dimensionId} has no such row on ${date}.`
    : `No chargebacks of ${date} are published.`;
  return new ApiError("row_not_found", detail);
}

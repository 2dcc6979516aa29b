/** Adds one tag to many dimensions: to a list of them, or to all that have rows that match filters. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { LARGE_BODY_BYTES } from "../body-limits.js";
import { tagListed, tagMatching } from "../bulk-tagging.js";
import type { HttpContext } from "../context.js";
import { hasTagParameters } from "../input/tag-parameters.js";
import { tenantPathSchema } from "../schemas/parameters.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";
import { bulkResultSchema, bulkTagsByFilterSchema, bulkTagsSchema } from "../schemas/tag.js";

const problems = ["tenant_not_found", ...bodyProblems, "store_unavailable", "request_timeout"] as const;

export const bulkTagRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      "/tenants/:tenant_name/tags/bulk",
      {
        config: { scope: "tags", heavy: false, etag: false, showsTags: false },
        bodyLimit: LARGE_BODY_BYTES,
        schema: {
          operationId: "tagDimensions",
          tags: ["Tags"],
          summary: "Tag many dimensions",
          description:
            "One transaction. Ids that the tenant does not have are listed in `errors`; all other dimensions get the tag.",
          params: tenantPathSchema,
          body: bulkTagsSchema,
          response: { 200: bulkResultSchema, ...problemResponses(...problems) },
        },
      },
      (request) => tagListed(context, request, request.body),
    );

    app.post(
      "/tenants/:tenant_name/tags/bulk-by-filter",
      {
        config: { scope: "tags", heavy: true, etag: false, showsTags: ({ body }) => hasTagParameters(body) },
        bodyLimit: LARGE_BODY_BYTES,
        schema: {
          operationId: "tagDimensionsByFilter",
          tags: ["Tags"],
          summary: "Tag all dimensions that match filters",
          description:
            "Tags all dimensions that have matching chargeback rows in the window. The filters are those of the list of chargebacks, including " +
            "`tag:KEY`. One transaction, without an upper limit.",
          params: tenantPathSchema,
          body: bulkTagsByFilterSchema,
          response: { 200: bulkResultSchema, ...problemResponses("too_busy", ...problems) },
        },
      },
      (request) => tagMatching(context, request, request.body),
    );
  };

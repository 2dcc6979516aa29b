/** One tag on many dimensions: those of a list, or all that have rows under filters. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { LARGE_BODY_BYTES } from "../body-limits.js";
import { tagListed, tagMatching } from "../bulk-tagging.js";
import type { HttpContext } from "../context.js";
import { hasTagParameters } from "../input/tag-parameters.js";
import { TenantPath } from "../schemas/parameters.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";
import { BulkResult, BulkTags, BulkTagsByFilter } from "../schemas/tag.js";

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
            "One transaction. Ids that the tenant does not have are listed under `errors`; the others get their tag.",
          params: TenantPath,
          body: BulkTags,
          response: { 200: BulkResult, ...problemResponses(...problems) },
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
          summary: "Tag all dimensions under filters",
          description:
            "All dimensions that have chargeback rows in the window, under the filters, as the list of chargebacks has them, `tag:KEY` too. One " +
            "transaction, without an upper limit.",
          params: TenantPath,
          body: BulkTagsByFilter,
          response: { 200: BulkResult, ...problemResponses("too_busy", ...problems) },
        },
      },
      (request) => tagMatching(context, request, request.body),
    );
  };

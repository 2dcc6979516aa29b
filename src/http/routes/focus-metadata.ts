/** The metadata of a FOCUS export. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { focusMetadata } from "../../export/focus/metadata.js";
import { readFocusColumns } from "../../export/focus/open-focus.js";
import { readTrackingDates } from "../../query/state/tenant-status.js";
import { type HttpContext, tenantRead } from "../context.js";
import { focusMetadataQuery, focusMetadataSchema } from "../schemas/focus-metadata.js";
import { tenantPathSchema } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";

export const focusMetadataRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/tenants/:tenant_name/export/focus-metadata",
      {
        config: { scope: "read", heavy: true, etag: false, showsTags: false },
        schema: {
          operationId: "describeFocusExport",
          tags: ["Export"],
          summary: "The metadata of a FOCUS file",
          description:
            "The metadata that the FinOps Open Cost and Usage Specification requires for the file that `format=focus` exports of the same days: its schema, how recent and complete its days are, and its dataset.",
          params: tenantPathSchema,
          querystring: focusMetadataQuery,
          response: {
            200: focusMetadataSchema,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request) => {
        const { client, signal } = await tenantRead(context, request);
        const { tenant, window, query } = request;
        const version = query.focus_version ?? "1.4";
        const columns = await readFocusColumns(client, window, version, signal);
        const days = await readTrackingDates(context.stores.postgres, tenant.tenant_name, window, signal);
        return focusMetadata({
          tenantName: tenant.tenant_name,
          version,
          generatorVersion: context.version,
          columns,
          days,
          now: context.clock().toISOString(),
        });
      },
    );
  };

/** Chargeback rows as a file of any length: CSV, Parquet or an Arrow stream. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { dateWindow } from "../../query/date-window.js";
import { defaultExportColumns } from "../../query/export-columns.js";
import { type ExportFormatName, exportFormats } from "../../query/export-format.js";
import { openExport } from "../../query/export-stream.js";
import { preferred } from "../accept.js";
import { type HttpContext, tenantRead } from "../context.js";
import { ApiError } from "../errors.js";
import { readTagParameters } from "../input/tag-parameters.js";
import { ExportBody, exportParameters, exportResponse } from "../schemas/export.js";
import { inputOf, TenantPath } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";

const names = Object.keys(exportFormats) as ExportFormatName[];
const mediaTypes = names.map((name) => exportFormats[name].mediaType);

function formatOf(accept: string | undefined): ExportFormatName {
  const wanted = preferred(accept, mediaTypes);
  const name = names.find((each) => exportFormats[each].mediaType === wanted);
  if (name !== undefined) return name;
  throw new ApiError("not_acceptable", `\`Accept\` must take one of ${mediaTypes.join(", ")}.`);
}

export const exportRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    // An export may take minutes, but not stand still: for so long no byte may move.
    const idleMs = Math.max(context.config.api.request_timeout_seconds, 30) * 1000;
    app.post(
      "/tenants/:tenant_name/export",
      {
        schema: {
          operationId: "exportChargebacks",
          tags: ["Export"],
          summary: "Chargeback rows as a file",
          description: `Streams all matching rows, as what \`Accept\` says: ${mediaTypes.join(", ")}. Broken off when no byte moves for ${idleMs / 1000} seconds.`,
          params: TenantPath,
          querystring: inputOf(exportParameters),
          body: ExportBody,
          response: {
            200: exportResponse,
            ...problemResponses(
              "tenant_not_found",
              "malformed_body",
              "not_acceptable",
              "body_too_large",
              "too_busy",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async (request, reply) => {
        const { tenant, body } = request;
        const window = dateWindow(body, tenant.lookback_days, context.clock());
        const format = formatOf(request.headers.accept);
        const { client, signal } = await tenantRead(context, request, "heavy");
        const columns = body.columns.length > 0 ? body.columns : defaultExportColumns;
        const tags = readTagParameters({ ...body.filters }, "body", []);
        const input = { window, filters: { ...body.filters, tags }, columns, raw: request.query.raw, format };
        const stream = await openExport(client, input, { signal, idleMs });
        const { mediaType, extension } = exportFormats[format];
        const name = `chargebacks_${tenant.tenant_name}_${window.startDate}_${window.endDate}.${extension}`;
        reply
          .header("content-disposition", `attachment; filename="${name}"`)
          .type(format === "csv" ? `${mediaType}; charset=utf-8` : mediaType);
        // The stream, not the reply: a reply counts as answered when its last byte is gone, and the time limit with it.
        return stream;
      },
    );
  };

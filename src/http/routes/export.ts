/** Chargeback rows as a file of any length: CSV, Parquet or an Arrow stream. */

import { Readable } from "node:stream";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ChargebackFilters } from "../../query/chargeback-scan.js";
import { type DateWindowInput, dateWindow } from "../../query/date-window.js";
import { defaultExportColumns, type ExportColumn } from "../../query/export-columns.js";
import { type ExportFormatName, exportFormatNames, exportFormats } from "../../query/export-format.js";
import { openExport } from "../../query/export-stream.js";
import { preferred } from "../accept.js";
import { type HttpContext, tenantRead } from "../context.js";
import { ApiError } from "../errors.js";
import { readTagParameters } from "../input/tag-parameters.js";
import { isUnchanged } from "../revalidate.js";
import { ExportBody, exportParameters, exportQuery, exportResponse } from "../schemas/export.js";
import { inputOf, TenantPath } from "../schemas/parameters.js";
import { bodyProblems, notModified, problemResponses } from "../schemas/problem.js";

const mediaTypes = exportFormatNames.map((name) => exportFormats[name].mediaType);

/** Bytes a second that a reader takes at least while others wait. */
const SLOWEST = 65_536;

function formatOf(accept: string | undefined): ExportFormatName {
  const wanted = preferred(accept, mediaTypes);
  const name = exportFormatNames.find((each) => exportFormats[each].mediaType === wanted);
  if (name !== undefined) return name;
  throw new ApiError("not_acceptable", `\`Accept\` must take one of ${mediaTypes.join(", ")}.`);
}

/** What a body, or the parameters of a URL, say of the file. */
interface Wanted extends DateWindowInput {
  readonly columns: readonly ExportColumn[];
  readonly filters: ChargebackFilters;
  readonly raw: boolean;
  readonly format?: ExportFormatName | undefined;
}

/**
 * `curl -d '{}'` calls JSON a form. Taken here, where nothing is changed, and only when it is JSON; a web page that could send the same without a
 * preflight is refused before (`refuseForeignPages`).
 */
function takeJsonAsForm(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  const asText = { parseAs: "string" } as const;
  app.addContentTypeParser<string>("application/x-www-form-urlencoded", asText, (request, body, done) => {
    if (body === "") done(null, undefined);
    else parse(request, body, done);
  });
}

export const exportRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    // An export may take minutes, but not stand still: for so long no byte may move.
    const idleMs = Math.max(context.config.api.request_timeout_seconds, 30) * 1000;
    const description = `Streams all matching rows, in the format that \`format\` or \`Accept\` asks for: ${mediaTypes.join(", ")}. The connection is closed when no byte moves for ${idleMs / 1000} seconds, or when the client reads less than ${SLOWEST / 1024} KiB a second while another read waits for a place.`;
    // Half of what one waits in line.
    const graceMs = (context.config.api.request_timeout_seconds / 4) * 1000;

    const answer = async (request: FastifyRequest, reply: FastifyReply, wanted: Wanted) => {
      const { tenant } = request;
      const window = dateWindow(wanted, tenant.lookback_days, context.clock());
      const format = wanted.format ?? formatOf(request.headers.accept);
      const { mediaType, extension } = exportFormats[format];
      reply.header("vary", "Accept");
      if (
        request.method !== "POST" &&
        (await isUnchanged(context, request, reply, window, "chargebacks", format))
      )
        return reply.code(304).send(undefined);
      const isHead = request.method === "HEAD";
      const { client, signal } = await tenantRead(context, request, isHead ? "light" : "heavy");
      const columns = wanted.columns.length > 0 ? wanted.columns : defaultExportColumns;
      const { filters, raw } = wanted;
      const isWanted = () => context.heavyReads.isWanted(request);
      const pace = { graceMs, bytesPerSecond: SLOWEST, isWanted };
      // The stream, not the reply: a reply counts as answered when its last byte is gone, and the time limit with it.
      const stream = isHead
        ? Readable.from([])
        : await openExport(client, { window, filters, columns, raw, format }, { signal, idleMs, pace });
      const name = `chargebacks_${tenant.tenant_name}_${window.startDate}_${window.endDate}.${extension}`;
      reply
        .header("content-disposition", `attachment; filename="${name}"`)
        .type(format === "csv" ? `${mediaType}; charset=utf-8` : mediaType);
      return stream;
    };

    takeJsonAsForm(app);

    app.post(
      "/tenants/:tenant_name/export",
      {
        schema: {
          operationId: "exportChargebacks",
          tags: ["Export"],
          summary: "Chargeback rows as a file",
          description,
          params: TenantPath,
          querystring: inputOf(exportParameters),
          body: ExportBody,
          response: {
            200: exportResponse,
            ...problemResponses(
              "tenant_not_found",
              "not_acceptable",
              ...bodyProblems,
              "too_busy",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      (request, reply) => {
        const tags = readTagParameters({ ...request.body.filters }, "body", []);
        const filters = { ...request.body.filters, tags };
        return answer(request, reply, { ...request.body, ...request.query, filters });
      },
    );

    app.get(
      "/tenants/:tenant_name/export",
      {
        schema: {
          operationId: "downloadChargebacks",
          tags: ["Export"],
          summary: "Chargeback rows as a file, by a plain URL",
          description: `The same file as with POST, for spreadsheets, BI tools and \`curl\`: everything is a parameter. ${description}`,
          params: TenantPath,
          querystring: exportQuery,
          response: {
            200: exportResponse,
            ...notModified,
            ...problemResponses(
              "tenant_not_found",
              "not_acceptable",
              "too_busy",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      (request, reply) => {
        const { columns, start_date, end_date, timezone, raw, format, ...filters } = request.query;
        return answer(request, reply, { columns, start_date, end_date, timezone, raw, format, filters });
      },
    );
  };

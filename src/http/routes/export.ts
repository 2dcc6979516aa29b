/** Chargeback rows as a file of any length: CSV, Parquet or an Arrow stream. */
import { Readable } from "node:stream";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Coverage } from "../../common/coverage.js";
import type { ExportVersion } from "../../domain/export-versions.js";
import { defaultExportColumns } from "../../export/columns.js";
import { type FocusFormatName, focusFormats, isFocusFormat } from "../../export/focus/format.js";
import { openFocusExport } from "../../export/focus/open-focus.js";
import { type ExportFormatName, exportFormatNames, exportFormats } from "../../export/format.js";
import type { ExportInput } from "../../export/statement.js";
import { openExport } from "../../export/stream.js";
import { preferred, varyBy } from "../accept.js";
import { LARGE_BODY_BYTES } from "../body-limits.js";
import { type HttpContext, tenantRead } from "../context.js";
import { ApiError, invalidRequest } from "../errors.js";
import { requireFocusFormat, requireWholeCharges } from "../input/focus-export.js";
import { jsonBody } from "../input/json-body.js";
import { readTagParameters } from "../input/tag-parameters.js";
import { exportBodySchema, exportParameters, exportQuery, exportResponse } from "../schemas/export.js";
import { inputOf, tenantPathSchema } from "../schemas/parameters.js";
import { bodyProblems, notModified, problemResponses } from "../schemas/problem.js";
import {
  completenessOf,
  coverageOfWindow,
  exportIdleMs,
  headOf,
  isHead,
  logBreak,
  MIN_BYTES_PER_SECOND,
  paceOf,
} from "../streamed-file.js";

const mediaTypes = exportFormatNames.map((name) => exportFormats[name].mediaType);

declare module "fastify" {
  interface FastifyRequest {
    /** Set for exports. */
    exportFormat: ExportFormatName | FocusFormatName;
  }
}

/** Returns the format in the URL, or else the one that `Accept` prefers. */
function formatOf({ query, headers }: FastifyRequest): ExportFormatName | FocusFormatName {
  // The schema has validated it.
  const { format } = query as { format?: ExportFormatName | FocusFormatName };
  if (format !== undefined) return format;
  const mediaType = preferred(headers.accept, mediaTypes);
  const accepted = exportFormatNames.find((name) => exportFormats[name].mediaType === mediaType);
  if (accepted !== undefined) return accepted;
  throw new ApiError("not_acceptable", `\`Accept\` must take one of ${mediaTypes.join(", ")}.`);
}

/** The parameters of an export, from the body or the URL. */
interface ExportRequest extends Pick<ExportInput, "columns" | "filters" | "raw"> {
  /** The file begins with the period and its state. */
  readonly head: boolean;
  readonly focus_version: ExportVersion | undefined;
  /** The part of the request that asks for a byte order mark; undefined if none does. */
  readonly bom: "query" | "body" | undefined;
}

/**
 * `curl -d '{}'` sends JSON with the content type of a form. Exports accept that, because they change nothing. The body
 * still has to be JSON. A web page could send such a request without a preflight; `crossOrigin` refuses it before.
 */
function acceptJsonAsForm(app: FastifyInstance): void {
  app.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "buffer" }, jsonBody(app));
}

export const exportRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const idleMs = exportIdleMs(context.config.api);
    const description = `Streams all matching rows, in the format of \`format\` or \`Accept\`: ${mediaTypes.join(", ")}. The connection is closed when no byte moves for ${idleMs / 1000} seconds, or when the client reads less than ${MIN_BYTES_PER_SECOND / 1024} KiB a second while another read waits for a slot.`;
    const exportRows = async (request: FastifyRequest, reply: FastifyReply, wanted: ExportRequest) => {
      const { window, exportFormat: format } = request;
      const { client, signal } = await tenantRead(context, request);
      const columns = wanted.columns.length > 0 ? wanted.columns : defaultExportColumns;
      const pace = paceOf(context, request);
      // Return the stream instead of sending it by the reply: a reply is finished when its last byte is sent, and the
      // time limit would apply to the whole export.
      const coverage = await coverageOfWindow(context, request);
      const head = wanted.head ? headOf(request, coverage) : "";
      const options = { signal, idleMs, pace, bom: wanted.bom !== undefined, head };
      const open = async () => {
        if (!isFocusFormat(format))
          return await openExport(client, { ...wanted, columns, window, format }, options);
        const { filters, focus_version: version = "1.4" } = wanted;
        return await openFocusExport(client, { window, filters, version, format }, options);
      };
      const where = request.method === "POST" ? "body" : "query";
      if (wanted.bom !== undefined) requireCsv(format, wanted.bom);
      if (wanted.head && format !== "csv")
        throw invalidRequest([
          { in: "query", name: "head", detail: `\`head\` must be false for ${format}.`, code: "invalid" },
        ]);
      if (isFocusFormat(format)) requireWholeCharges(wanted, where);
      else requireFocusFormat(wanted.focus_version);
      const stream = isHead(request) ? Readable.from([]) : await open();
      logBreak(request, stream, signal);
      nameFile(request, reply, coverage);
      return stream;
    };

    acceptJsonAsForm(app);
    app.decorateRequest("exportFormat");
    app.addHook("preHandler", async (request, reply) => {
      request.exportFormat = formatOf(request);
      varyBy(reply, "Accept");
    });

    app.post(
      "/tenants/:tenant_name/export",
      {
        config: { scope: "read", heavy: true, etag: false, showsTags: true },
        bodyLimit: LARGE_BODY_BYTES,
        schema: {
          operationId: "exportChargebacks",
          tags: ["Export"],
          summary: "Chargeback rows as a file",
          description,
          params: tenantPathSchema,
          querystring: inputOf(exportParameters),
          body: exportBodySchema,
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
        const { raw, focus_version, head } = request.query;
        const { columns } = request.body;
        const bom = (request.query.bom && "query") || (request.body.bom && "body") || undefined;
        return exportRows(request, reply, { columns, raw, bom, head, focus_version, filters });
      },
    );

    app.get(
      "/tenants/:tenant_name/export",
      {
        config: {
          scope: "read",
          heavy: (request) => !isHead(request),
          etag: { ledger: "chargebacks", form: ({ exportFormat }) => exportFormat },
          showsTags: true,
        },
        schema: {
          operationId: "downloadChargebacks",
          tags: ["Export"],
          summary: "Chargeback rows as a file, by a plain URL",
          description: `The same file as with POST, for spreadsheets, BI tools and \`curl\`: all input is in the URL. ${description}`,
          params: tenantPathSchema,
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
        const { columns, raw, bom, head, focus_version, ...filters } = request.query;
        return exportRows(request, reply, {
          columns,
          raw,
          bom: bom ? "query" : undefined,
          head,
          focus_version,
          filters,
        });
      },
    );
  };

/** Throws unless the format is CSV, the only one that can have a byte order mark. */
function requireCsv(format: ExportFormatName | FocusFormatName, where: "query" | "body"): void {
  if (format === "csv" || format === "focus") return;
  const detail = `\`bom\` must be false for ${format}: only a CSV (\`format=csv\` or \`format=focus\`) can begin with a byte order mark.`;
  throw invalidRequest([{ in: where, name: "bom", detail, code: "invalid" }]);
}

function nameFile(
  { tenant, window, exportFormat }: FastifyRequest,
  reply: FastifyReply,
  coverage: Coverage,
): void {
  const { mediaType, extension } = isFocusFormat(exportFormat)
    ? focusFormats[exportFormat]
    : exportFormats[exportFormat];
  const kind = isFocusFormat(exportFormat) ? "focus" : "chargebacks";
  const name = `${kind}_${tenant.tenant_name}_${window.startDate}_${window.endDate}_${completenessOf(coverage)}.${extension}`;
  reply
    .header("content-disposition", `attachment; filename="${name}"`)
    .type(extension === "csv" ? `${mediaType}; charset=utf-8` : mediaType);
}

/** Chargeback rows as a file of any length: CSV, Parquet or an Arrow stream. */
import { Readable } from "node:stream";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiSettings } from "../../config/api.js";
import type { ExportVersion } from "../../config/export-versions.js";
import { defaultExportColumns } from "../../query/export/columns.js";
import { type FocusFormatName, focusFormats, isFocusFormat } from "../../query/export/focus/format.js";
import { openFocusExport } from "../../query/export/focus/open-focus.js";
import { type ExportFormatName, exportFormatNames, exportFormats } from "../../query/export/format.js";
import type { ExportInput } from "../../query/export/statement.js";
import { openExport } from "../../query/export/stream.js";
import { isLostConnection } from "../../store/lost-connection.js";
import { preferred } from "../accept.js";
import { LARGE_BODY_BYTES } from "../body-limits.js";
import { type HttpContext, tenantRead } from "../context.js";
import { ApiError, invalidRequest } from "../errors.js";
import { requireFocusFormat, requireWholeCharges } from "../input/focus-export.js";
import { jsonBody } from "../input/json-body.js";
import { readTagParameters } from "../input/tag-parameters.js";
import { pathOf } from "../problem.js";
import { ExportBody, exportParameters, exportQuery, exportResponse } from "../schemas/export.js";
import { inputOf, TenantPath } from "../schemas/parameters.js";
import { bodyProblems, notModified, problemResponses } from "../schemas/problem.js";
import { varyBy } from "../vary.js";

const mediaTypes = exportFormatNames.map((name) => exportFormats[name].mediaType);

/** Bytes a second that a reader takes at least while others wait. */
const SLOWEST = 65_536;

declare module "fastify" {
  interface FastifyRequest {
    /** Of exports. */
    exportFormat: ExportFormatName | FocusFormatName;
  }
}

/** An export may take minutes, but not stand still: for so long no byte may move. */
export function exportIdleMs(api: Pick<ApiSettings, "request_timeout_seconds">): number {
  return Math.max(api.request_timeout_seconds, 30) * 1000;
}

/** What the URL says, else what `Accept` prefers. */
function formatOf({ query, headers }: FastifyRequest): ExportFormatName | FocusFormatName {
  // The schema has validated it.
  const { format } = query as { format?: ExportFormatName | FocusFormatName };
  if (format !== undefined) return format;
  const wanted = preferred(headers.accept, mediaTypes);
  const name = exportFormatNames.find((each) => exportFormats[each].mediaType === wanted);
  if (name !== undefined) return name;
  throw new ApiError("not_acceptable", `\`Accept\` must take one of ${mediaTypes.join(", ")}.`);
}

/** What a body, or the parameters of a URL, say of the file. */
interface Wanted extends Pick<ExportInput, "columns" | "filters" | "raw"> {
  readonly focus_version: ExportVersion | undefined;
  /** Where the request asks for a byte order mark, if it does. */
  readonly bom: "query" | "body" | undefined;
}

/**
 * `curl -d '{}'` calls JSON a form. Taken here, where nothing is changed, and only when it is JSON; a web page that could send the same without a
 * preflight is refused before (`crossOrigin`).
 */
function takeJsonAsForm(app: FastifyInstance): void {
  app.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "buffer" }, jsonBody(app));
}

export const exportRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const idleMs = exportIdleMs(context.config.api);
    const description = `Streams all matching rows, in the format that \`format\` or \`Accept\` asks for: ${mediaTypes.join(", ")}. The connection is closed when no byte moves for ${idleMs / 1000} seconds, or when the client reads less than ${SLOWEST / 1024} KiB a second while another read waits for a place.`;
    // Half of what one waits in line.
    const graceMs = (context.config.api.request_timeout_seconds / 4) * 1000;

    const answer = async (request: FastifyRequest, reply: FastifyReply, wanted: Wanted) => {
      const { window, exportFormat: format } = request;
      const { client, signal } = await tenantRead(context, request);
      const columns = wanted.columns.length > 0 ? wanted.columns : defaultExportColumns;
      const hasWaiters = () => request.isPlaceWanted();
      const pace = { graceMs, bytesPerSecond: SLOWEST, hasWaiters };
      // The stream, not the reply: a reply counts as answered when its last byte is gone, and the time limit with it.
      const options = { signal, idleMs, pace, bom: wanted.bom !== undefined };
      const open = async () => {
        if (!isFocusFormat(format))
          return await openExport(client, { ...wanted, columns, window, format }, options);
        const { filters, focus_version: version = "1.4" } = wanted;
        return await openFocusExport(client, { window, filters, version, format }, options);
      };
      const where = request.method === "POST" ? "body" : "query";
      if (wanted.bom !== undefined) requireCsv(format, wanted.bom);
      if (isFocusFormat(format)) requireWholeCharges(wanted, where);
      else requireFocusFormat(wanted.focus_version);
      const stream = isHead(request) ? Readable.from([]) : await open();
      // Its head is sent, so that no problem document can follow: the client sees the connection break, and the log says why.
      stream.once("error", (error) => {
        if (signal.aborted) return;
        const why = isLostConnection(error) ? ": the store went away" : "";
        request.log.warn({ err: error, path: pathOf(request.url) }, `an export broke off${why}`);
      });
      nameFile(request, reply);
      return stream;
    };

    takeJsonAsForm(app);
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
        const { raw, focus_version } = request.query;
        const { columns } = request.body;
        const bom = (request.query.bom && "query") || (request.body.bom && "body") || undefined;
        return answer(request, reply, { columns, raw, bom, focus_version, filters });
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
        const { columns, raw, bom, focus_version, ...filters } = request.query;
        return answer(request, reply, {
          columns,
          raw,
          bom: bom ? "query" : undefined,
          focus_version,
          filters,
        });
      },
    );
  };

/** Throws unless the file is a CSV, the only kind that a byte order mark fits. */
function requireCsv(format: ExportFormatName | FocusFormatName, where: "query" | "body"): void {
  if (format === "csv" || format === "focus") return;
  const detail = `\`bom\` must be false for ${format}: only a CSV (\`format=csv\` or \`format=focus\`) can begin with a byte order mark.`;
  throw invalidRequest([{ in: where, name: "bom", detail, code: "invalid" }]);
}

const isHead = ({ method }: FastifyRequest) => method === "HEAD";

function nameFile({ tenant, window, exportFormat }: FastifyRequest, reply: FastifyReply): void {
  const { mediaType, extension } = isFocusFormat(exportFormat)
    ? focusFormats[exportFormat]
    : exportFormats[exportFormat];
  const kind = isFocusFormat(exportFormat) ? "focus" : "chargebacks";
  const name = `${kind}_${tenant.tenant_name}_${window.startDate}_${window.endDate}.${extension}`;
  reply
    .header("content-disposition", `attachment; filename="${name}"`)
    .type(extension === "csv" ? `${mediaType}; charset=utf-8` : mediaType);
}

/** The statements of all identities or teams of a period as one ZIP. */
import { Readable } from "node:stream";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { defaultExportColumns, type ExportColumn } from "../../export/columns.js";
import { limitIdle } from "../../export/reader-pace.js";
import { openExport, readExportContext } from "../../export/stream.js";
import { type ZippedFile, zipOf } from "../../export/zip.js";
import { type Payer, readPayers } from "../../query/chargebacks/payers.js";
import { type HttpContext, tenantRead } from "../context.js";
import { tenantPathSchema } from "../schemas/parameters.js";
import { notModified, problemResponses } from "../schemas/problem.js";
import { statementsQuery, statementsResponse } from "../schemas/statements.js";
import {
  completenessOf,
  coverageOfWindow,
  exportIdleMs,
  headOf,
  isHead,
  logBreak,
  paceOf,
} from "../streamed-file.js";

/** The default columns of an export, and the currency of the amount. */
const columns: readonly ExportColumn[] = defaultExportColumns.flatMap((column) =>
  column === "amount" ? [column, "currency"] : [column],
);

export const statementsRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const idleMs = exportIdleMs(context.config.api);
    app.get(
      "/tenants/:tenant_name/statements",
      {
        config: {
          scope: "read",
          heavy: (request) => !isHead(request),
          etag: { ledger: "chargebacks" },
          showsTags: true,
        },
        schema: {
          operationId: "downloadStatements",
          tags: ["Export"],
          summary: "All statements of a period as a ZIP",
          description:
            "Streams one statement after another, each with the rows that an identity or a team pays for. Limits on slow clients are those of an export.",
          params: tenantPathSchema,
          querystring: statementsQuery,
          response: {
            200: statementsResponse,
            ...notModified,
            ...problemResponses("tenant_not_found", "too_busy", "store_unavailable", "request_timeout"),
          },
        },
      },
      async (request, reply) => {
        const { window, tenant, query } = request;
        const { by, raw, bom } = query;
        const { client, signal } = await tenantRead(context, request);
        const coverage = await coverageOfWindow(context, request);
        const payers = isHead(request) ? [] : await readPayers(client, window, by, signal);
        const known = await readExportContext(client, { window, filters: {}, columns, raw }, signal);
        const pace = paceOf(context, request);
        const head = headOf(request, coverage);
        const files = payers.map((payer, index): ZippedFile => {
          const ofPayer = `Statement of,${cellOf(shownName(payer))}\n`;
          const input = { window, filters: { [by]: [payer.id] }, columns, raw };
          return {
            name: fileName(payer, index),
            open: () => openExport(client, input, { signal, idleMs, pace, bom, head: ofPayer + head }, known),
          };
        });
        const index = { name: "index.csv", open: async () => Readable.from([indexOf(payers, bom)]) };
        const stream = isHead(request) ? Readable.from([]) : limitIdle(zipOf([index, ...files]), idleMs);
        logBreak(request, stream, signal);
        const name = `statements_${tenant.tenant_name}_${window.startDate}_${window.endDate}_${completenessOf(coverage)}.zip`;
        reply.header("content-disposition", `attachment; filename="${name}"`).type("application/zip");
        return stream;
      },
    );
  };

const shownName = ({ id, name }: Payer) => name || id;

const LONGEST_NAME = 60;

/** A number, so that names differ also where case does not count, and what is safe of the name. */
function fileName(payer: Payer, index: number): string {
  const safe = shownName(payer)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .slice(0, LONGEST_NAME)
    .replace(/^-|-$/g, "");
  return `${String(index + 1).padStart(5, "0")}${safe && `_${safe}`}.csv`;
}

/** One line for each payer and currency. */
function indexOf(payers: readonly Payer[], bom: boolean): Buffer {
  const lines = payers.flatMap((payer, index) =>
    payer.amounts.map(({ currency, amount }) =>
      [fileName(payer, index), cellOf(payer.id), cellOf(payer.name), currency, amount].join(","),
    ),
  );
  return Buffer.from(`${bom ? "\uFEFF" : ""}${["file,id,name,currency,amount", ...lines].join("\n")}\n`);
}

/** Quoted where needed, with an apostrophe before what a spreadsheet would run as a formula. */
function cellOf(text: string): string {
  const guarded = text.replace(/^[=+@\t\r-]/, "'$&");
  return /[",\n\r]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

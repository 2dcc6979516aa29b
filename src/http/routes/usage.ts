/** Uploads of usage as CSV. */
import { Readable } from "node:stream";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import { dayOf } from "../../common/days.js";
import { readUsageUploads, type UsageUploadProblem, uploadStates } from "../../query/state/usage-uploads.js";
import { acceptedUsage, loadUsage } from "../../runner/load-usage.js";
import { type HttpContext, openTenantStore } from "../context.js";
import { ApiError, invalidRequest } from "../errors.js";
import { choiceSchema } from "../schemas/fields.js";
import { cursorParameter, envelope } from "../schemas/page.js";
import { inputOf, paging, tenantPathSchema } from "../schemas/parameters.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";
import {
  idempotencyKeySchema,
  usageCsvSchema,
  usageUploadPageSchema,
  usageUploadSchema,
} from "../schemas/usage-upload.js";

const ORDER = "Newest first, by upload_id.";
const CSV_ONLY = "The body must be CSV, sent with Content-Type: text/csv.";

export const usageRoutes =
  (context: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = context.stores;
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("text/csv", (_request, body, done) => done(null, body));
    app.addContentTypeParser("*", (_request, _body, done) => done(new ApiError("malformed_body", CSV_ONLY)));

    app.get(
      "/tenants/:tenant_name/usage",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "listUsageUploads",
          tags: ["Usage"],
          summary: "Usage uploads",
          description: `Uploads by request, and files in \`usage.uploads.folder\`. ${ORDER}`,
          params: tenantPathSchema,
          querystring: inputOf({
            state: Type.Optional(
              choiceSchema(uploadStates, {
                description: "Only uploads in this state.",
                examples: ["stored"],
              }),
            ),
            ...paging,
            ...cursorParameter,
          }),
          response: {
            200: usageUploadPageSchema(ORDER),
            ...problemResponses("tenant_not_found", "invalid_cursor", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant, query, stopSignal }) => ({
        ...envelope(await readUsageUploads(postgres, tenant.tenant_name, query, stopSignal), query),
        accepted_metrics: [...(acceptedUsage(tenant)?.metrics ?? [])],
      }),
    );

    app.post(
      "/tenants/:tenant_name/usage",
      {
        config: { scope: "run", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "uploadUsage",
          tags: ["Usage"],
          summary: "Upload usage",
          description:
            "Only for tenants whose configuration names the metrics (`usage.uploads.metrics`). All usage of a metric on a day comes from one upload: a new " +
            "upload replaces the usage of each day and metric that it has rows of, and no other. If a row is invalid, the response names it with its " +
            "column, and nothing is stored.",
          consumes: ["text/csv"],
          params: tenantPathSchema,
          headers: idempotencyKeySchema,
          body: usageCsvSchema,
          response: {
            200: usageUploadSchema,
            ...problemResponses(
              "tenant_not_found",
              "usage_not_taken",
              ...bodyProblems,
              "idempotency_key_reused",
              "store_unavailable",
              "request_timeout",
            ),
          },
        },
      },
      async (request) => {
        const key = idempotencyKey(request);
        const body: unknown = request.body;
        if (!(body instanceof Readable)) throw new ApiError("malformed_body", CSV_ONLY);
        return await storeUsage(context, request, { key, body });
      },
    );
  };

async function storeUsage(
  context: HttpContext,
  { tenant, interruption: stop }: FastifyRequest,
  { key, body }: { readonly key: string; readonly body: Readable },
) {
  const { postgres } = context.stores;
  const openStore = () => openTenantStore(context, tenant);
  const today = dayOf(context.clock());
  const outcome = await loadUsage({ tenant, postgres, openStore, key, body, today, stop });
  switch (outcome.kind) {
    case "taken":
      context.control?.lookForDue();
      return outcome.upload;
    case "refused":
      throw invalidRequest(outcome.problems.map(asInput));
    case "not_configured": {
      const detail = `Tenant ${tenant.tenant_name} does not accept uploads of usage: they need plugin_settings.usage.uploads.metrics, which only the ecosystem focus has.`;
      throw new ApiError("usage_not_taken", detail);
    }
    case "too_large": {
      const detail = `The body must be at most ${outcome.maxMib} MiB long (usage.uploads.max_mib).`;
      throw new ApiError("body_too_large", detail);
    }
    case "key_reused":
      throw new ApiError(
        "idempotency_key_reused",
        "`Idempotency-Key` was already used with another body: use a new key.",
      );
    case "too_late":
      throw new ApiError(
        "request_timeout",
        "The upload took too long, and nothing was changed. Send it again.",
      );
  }
}

function asInput({ row, column, detail }: UsageUploadProblem) {
  const where = [row === null ? [] : `row ${row}`, column === null ? [] : `column ${column}`]
    .flat()
    .join(", ");
  return {
    in: "body" as const,
    name: where,
    detail: where === "" ? detail : `${where}: ${detail}`,
    code: "invalid" as const,
  };
}

const KEY_HEADER = "Idempotency-Key";

function idempotencyKey({ headers }: FastifyRequest): string {
  const key = headers[KEY_HEADER.toLowerCase()];
  const { pattern } = idempotencyKeySchema.properties[KEY_HEADER];
  const detail = `\`${KEY_HEADER}\` must be 1 to 200 printable ASCII characters: a name for this upload.`;
  if (key === undefined || key === "")
    throw invalidRequest([{ in: "header", name: KEY_HEADER, detail, code: "missing" }]);
  if (typeof key !== "string" || !new RegExp(pattern ?? "").test(key))
    throw invalidRequest([{ in: "header", name: KEY_HEADER, detail, code: "invalid" }]);
  return key;
}

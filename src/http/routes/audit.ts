/** The audit of a tenant, and of all tenants together with entries that belong to no tenant. */
import type { Readable } from "node:stream";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import { limitIdle } from "../../export/reader-pace.js";
import { auditLines, readAudit } from "../../query/state/audit.js";
import type { HttpContext } from "../context.js";
import { auditEntrySchema, auditFilters } from "../schemas/audit.js";
import { cursorParameter, envelope, pageSchema } from "../schemas/page.js";
import { inputOf, paging, tenantPathSchema } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";
import { exportIdleMs } from "../streamed-file.js";

const ORDER = "Newest first, by audit_id.";
const JSON_LINES = "application/x-ndjson";

const tenantAudit = {
  path: "/tenants/:tenant_name/audit",
  params: { params: tenantPathSchema },
  config: { scope: "admin", heavy: false, etag: false, showsTags: false },
  problems: ["tenant_not_found", "store_unavailable", "request_timeout"],
  operations: ["listTenantAudit", "exportTenantAudit"],
  subject: "the tenant's data",
} as const;

const fullAudit = {
  path: "/audit",
  params: {},
  config: { ...tenantAudit.config, everyTenant: true },
  problems: ["store_unavailable", "request_timeout"],
  operations: ["listAudit", "exportAudit"],
  subject: "data of any tenant, or tokens",
} as const;

export const auditRoutes =
  ({ stores: { postgres }, config: { api } }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const idleMs = exportIdleMs(api);
    for (const { path, params, config, problems, operations, subject } of [tenantAudit, fullAudit]) {
      const tenantOf = (request: { params: unknown }) => tenantIn(request.params);
      app.get(
        path,
        {
          config,
          schema: {
            operationId: operations[0],
            tags: ["Access"],
            summary: "Who changed what",
            description: `One entry for each request that changed ${subject}, written in the same transaction as the change. ${ORDER}`,
            ...params,
            querystring: inputOf({ ...auditFilters, ...paging, ...cursorParameter }),
            response: {
              200: pageSchema(auditEntrySchema, ORDER),
              ...problemResponses("invalid_cursor", ...problems),
            },
          },
        },
        async (request) =>
          envelope(
            await readAudit(
              postgres,
              { tenant_name: tenantOf(request), actor: request.query.actor, action: request.query.action },
              request.query,
              request.stopSignal,
            ),
            request.query,
          ),
      );

      app.get(
        `${path}/export`,
        {
          config,
          schema: {
            operationId: operations[1],
            tags: ["Access"],
            summary: "Who changed what, as JSON lines",
            description: `All entries, the oldest first: one JSON object per line. The connection is closed when the client reads nothing for ${idleMs / 1000} seconds.`,
            ...params,
            response: {
              200: {
                description: "If the connection breaks before its end, the file is incomplete.",
                content: {
                  [JSON_LINES]: { schema: Type.Unsafe<Readable>({ type: "string" }), example: EXAMPLE },
                },
              },
              ...problemResponses(...problems),
            },
          },
        },
        async (request, reply) => {
          const name = tenantOf(request);
          const file = `audit${name === undefined ? "" : `_${name}`}.jsonl`;
          reply.header("content-disposition", `attachment; filename="${file}"`).type(JSON_LINES);
          return limitIdle(auditLines(postgres, name, request.stopSignal), idleMs);
        },
      );
    }
  };

/** Undefined if the path has no tenant. */
function tenantIn(params: unknown): string | undefined {
  const named = typeof params === "object" && params !== null && "tenant_name" in params;
  return named ? String(params.tenant_name) : undefined;
}

const EXAMPLE =
  '{"audit_id":42,"at":"2026-01-01T00:00:00Z","actor":"ada","actor_kind":"token","token_id":3,"address":"10.1.2.3","request_id":"trace-7","tenant_name":"acme","action":"deleteTag","subject":{"tag_id":17}}\n';

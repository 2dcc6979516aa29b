/** The audit: of a tenant, and of all with what is no tenant's. */
import type { Readable } from "node:stream";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import { limitIdle } from "../../query/export/idle-limit.js";
import { auditLines, readAudit } from "../../query/state/audit.js";
import type { HttpContext } from "../context.js";
import { AuditEntry } from "../schemas/audit.js";
import { cursorParameter, envelope, pageOf } from "../schemas/page.js";
import { inputOf, paging, TenantPath } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";
import { exportIdleMs } from "./export.js";

const ORDER = "Newest first, by audit_id.";
const JSON_LINES = "application/x-ndjson";

const ofTenant = {
  path: "/tenants/:tenant_name/audit",
  params: { params: TenantPath },
  needs: { scope: "admin", heavy: false, etag: false, showsTags: false },
  problems: ["tenant_not_found", "store_unavailable", "request_timeout"],
  names: ["listTenantAudit", "exportTenantAudit"],
  of: "the tenant's data",
} as const;

const ofAll = {
  path: "/audit",
  params: {},
  needs: { ...ofTenant.needs, everyTenant: true },
  problems: ["store_unavailable", "request_timeout"],
  names: ["listAudit", "exportAudit"],
  of: "the data of any tenant, and tokens",
} as const;

export const auditRoutes =
  ({ stores: { postgres }, config: { api } }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const idleMs = exportIdleMs(api);
    for (const { path, params, needs, problems, names, of } of [ofTenant, ofAll]) {
      const nameOf = (request: { params: unknown }) => tenantIn(request.params);
      app.get(
        path,
        {
          config: needs,
          schema: {
            operationId: names[0],
            tags: ["Access"],
            summary: "Who changed what",
            description: `An entry for each request that changed ${of}, written together with the change. ${ORDER}`,
            ...params,
            querystring: inputOf({ ...paging, ...cursorParameter }),
            response: {
              200: pageOf(AuditEntry, ORDER),
              ...problemResponses("invalid_cursor", ...problems),
            },
          },
        },
        async (request) =>
          envelope(
            await readAudit(postgres, nameOf(request), request.query, request.stopSignal),
            request.query,
          ),
      );

      app.get(
        `${path}/export`,
        {
          config: needs,
          schema: {
            operationId: names[1],
            tags: ["Access"],
            summary: "Who changed what, as JSON lines",
            description: `All entries, the oldest first: an object of JSON a line. The connection is closed when the client reads nothing for ${idleMs / 1000} seconds.`,
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
          const name = nameOf(request);
          const file = `audit${name === undefined ? "" : `_${name}`}.jsonl`;
          reply.header("content-disposition", `attachment; filename="${file}"`).type(JSON_LINES);
          return limitIdle(auditLines(postgres, name, request.stopSignal), idleMs);
        },
      );
    }
  };

/** Undefined where the path has none. */
function tenantIn(params: unknown): string | undefined {
  const named = typeof params === "object" && params !== null && "tenant_name" in params;
  return named ? String(params.tenant_name) : undefined;
}

const EXAMPLE =
  '{"audit_id":42,"at":"2026-01-01T00:00:00Z","actor":"ada","actor_kind":"token","token_id":3,"address":"10.1.2.3","request_id":"trace-7","tenant_name":"acme","action":"deleteTag","subject":{"tag_id":17}}\n';

/**
 * Records each change in the audit, with its caller, and makes an authenticated caller the author of what the request
 * creates.
 */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { addAuditEntry } from "../../postgres/audit.js";

/** Limits of an audit entry. Longer lists and texts are cut. */
const MOST_ITEMS = 20;
const LONGEST_TEXT = 500;

export const audit = fp(
  async (app) => {
    app.addHook("preHandler", async (request) => {
      const { interruption } = request;
      request.interruption = {
        ...interruption,
        record: (transaction, details = {}) =>
          addAuditEntry(transaction, request.actor(), {
            action: request.routeOptions.schema?.operationId ?? request.routeOptions.url ?? "",
            tenantName: request.tenant?.tenant_name,
            subject: subjectOf(request, details),
          }),
      };
    });
    app.addHook("preValidation", async (request) => {
      const { caller, body, routeOptions } = request;
      if (caller.name !== null) request.body = withAuthor(routeOptions.schema?.body, body, caller.name);
    });
  },
  { name: "audit", dependencies: ["access", "tenant"] },
);

/** Replaces each `created_by` of the body with the name of the authenticated caller. */
function withAuthor(schema: unknown, body: unknown, name: string): unknown {
  if (!KindGuard.IsObject(schema) || !isRecord(body)) return body;
  const fields = Object.entries(schema.properties).flatMap(([field, fieldSchema]: [string, TSchema]) => {
    if (field === "created_by") return [[field, name]];
    const value = body[field];
    if (!KindGuard.IsArray(fieldSchema) || !Array.isArray(value)) return [];
    return [[field, value.map((item) => withAuthor(fieldSchema.items, item, name))]];
  });
  return { ...body, ...Object.fromEntries(fields) };
}

function subjectOf(
  { params, body }: FastifyRequest,
  details: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { tenant_name: _, ...ids } = isRecord(params) ? params : {};
  const fields = Object.entries({ ...(isRecord(body) ? body : {}), ...details });
  return { ...ids, ...Object.fromEntries(fields.map(([name, value]) => [name, cut(value)])) };
}

function cut(value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, LONGEST_TEXT);
  if (!Array.isArray(value) || value.length <= MOST_ITEMS) return value;
  return [...value.slice(0, MOST_ITEMS), `and ${value.length - MOST_ITEMS} more`];
}

/** False for a stream. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** What a request changes is recorded with who sent it; and who sent it is the author of what it makes. */
import { KindGuard, type TSchema } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { addAuditEntry } from "../../store/postgres/audit.js";

/** Longer lists and texts are cut in an entry. */
const MOST_ITEMS = 20;
const LONGEST_TEXT = 500;

export const audit = fp(
  async (app) => {
    app.addHook("preHandler", async (request) => {
      const { interruption } = request;
      request.interruption = {
        ...interruption,
        record: (on, more = {}) =>
          addAuditEntry(on, request.actor(), {
            action: request.routeOptions.schema?.operationId ?? request.routeOptions.url ?? "",
            tenantName: request.tenant?.tenant_name,
            subject: subjectOf(request, more),
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

/** Whoever is known does not say who they are: `created_by` is their name, wherever the body takes one. */
function withAuthor(schema: unknown, body: unknown, name: string): unknown {
  if (!KindGuard.IsObject(schema) || !isRecord(body)) return body;
  const fields = Object.entries(schema.properties).flatMap(([field, of]: [string, TSchema]) => {
    if (field === "created_by") return [[field, name]];
    const given = body[field];
    if (!KindGuard.IsArray(of) || !Array.isArray(given)) return [];
    return [[field, given.map((item) => withAuthor(of.items, item, name))]];
  });
  return { ...body, ...Object.fromEntries(fields) };
}

function subjectOf(
  { params, body }: FastifyRequest,
  more: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { tenant_name: _, ...ids } = isRecord(params) ? params : {};
  const fields = Object.entries({ ...(isRecord(body) ? body : {}), ...more });
  return { ...ids, ...Object.fromEntries(fields.map(([name, value]) => [name, cut(value)])) };
}

function cut(value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, LONGEST_TEXT);
  if (!Array.isArray(value) || value.length <= MOST_ITEMS) return value;
  return [...value.slice(0, MOST_ITEMS), `and ${value.length - MOST_ITEMS} more`];
}

/** Not a stream. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

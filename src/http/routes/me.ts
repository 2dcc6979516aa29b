/** The caller and its permissions. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { scopes } from "../../domain/scopes.js";
import { may, mayForEveryTenant, mayForTenant } from "../auth/caller.js";
import type { HttpContext } from "../context.js";
import { meSchema } from "../schemas/access.js";
import { problemResponses } from "../schemas/problem.js";

export const meRoutes =
  ({ config }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      "/me",
      {
        config: { scope: "any", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getMe",
          tags: ["Access"],
          summary: "The caller",
          description: "The name, scopes and tenants of the credentials.",
          response: { 200: meSchema, ...problemResponses("store_unavailable", "request_timeout") },
        },
      },
      async ({ caller }) => {
        const tenants = [...config.tenants].filter(([name]) => mayForTenant(caller, "any", name));
        return {
          auth: config.api.auth,
          name: caller.name,
          session_id: caller.sessionId ?? null,
          scopes: scopes.filter((scope) => may(caller, scope)),
          every_tenant: mayForEveryTenant(caller, "any"),
          tenants: tenants.map(([name]) => name),
          ecosystems: Object.fromEntries(tenants.map(([name, { ecosystem }]) => [name, ecosystem])),
        };
      },
    );
  };

/**
 * Finds the tenant in the path, before the rest of the request is validated. An unknown tenant is always 404, and so is
 * one that the caller may not see.
 */
import fp from "fastify-plugin";
import type { TenantConfig } from "../../config/config.js";
import { mayForTenant } from "../auth/caller.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { missingScope } from "./access.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Set if the path has `tenant_name`. */
    tenant: TenantConfig;
  }
}

export const tenant = fp<Pick<HttpContext, "config">>(
  async (app, { config }) => {
    app.decorateRequest("tenant");
    app.addHook("onRequest", async (request) => {
      const name = tenantName(request.params);
      if (name === undefined) return;
      const { caller } = request;
      const found = mayForTenant(caller, "any", name) ? config.tenants.get(name) : undefined;
      if (found === undefined) {
        throw new ApiError(
          "tenant_not_found",
          `Tenant "${name.slice(0, 100)}" not found. GET /api/v1/tenants lists the tenants.`,
        );
      }
      const { scope } = request.routeOptions.config;
      if (scope !== "public" && !mayForTenant(caller, scope, name)) throw missingScope(`${scope} of ${name}`);
      request.tenant = found;
    });
  },
  // Runs after authentication and the check of origins, so that the status does not reveal which tenants exist.
  { name: "tenant", dependencies: ["cross-origin", "access"] },
);

function tenantName(params: unknown): string | undefined {
  if (typeof params !== "object" || params === null || !("tenant_name" in params)) return undefined;
  return String(params.tenant_name);
}

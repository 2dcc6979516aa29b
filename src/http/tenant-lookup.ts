/** Finds the tenant that a path names, before anything else of the request is looked at: an unknown one is 404 in any case. */
import type { FastifyInstance } from "fastify";
import type { Config, TenantConfig } from "../config/config.js";
import { ApiError } from "./errors.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Of requests whose path has `tenant_name`. */
    tenant: TenantConfig;
  }
}

export function lookUpTenants(app: FastifyInstance, tenants: Config["tenants"]): void {
  app.decorateRequest("tenant");
  app.addHook("onRequest", async (request) => {
    const name = tenantName(request.params);
    if (name === undefined) return;
    const tenant = tenants.get(name);
    if (tenant === undefined) {
      throw new ApiError(
        "tenant_not_found",
        `Tenant "${name.slice(0, 100)}" not found. GET /api/v1/tenants lists the tenants.`,
      );
    }
    request.tenant = tenant;
  });
}

function tenantName(params: unknown): string | undefined {
  if (typeof params !== "object" || params === null || !("tenant_name" in params)) return undefined;
  return String(params.tenant_name);
}

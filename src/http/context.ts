/** The dependencies of routes. They are passed in, so that tests can replace them. */
import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Config, TenantConfig } from "../config/config.js";
import type { PipelineControl } from "../runner/control.js";
import type { Stores, TenantStore } from "../stores/stores.js";
import type { TagMirror } from "../tags/tag-mirror.js";
import type { ServiceMetrics } from "./metrics.js";
import { storeUnavailable } from "./problem.js";
import type { ServiceMode } from "./schemas/readiness.js";
import type { TlsServers } from "./server/tls-servers.js";
import type { StoreDriftCheck } from "./store-drift.js";

export interface HttpContext {
  readonly config: Pick<Config, "api" | "tenants"> & {
    readonly embedded: Pick<
      Config["embedded"],
      "sql_port" | "sql_host" | "sql_tls" | "sql_user" | "sql_users"
    >;
  };
  readonly stores: Stores;
  /** Undefined if no pipeline runs in this process. */
  readonly control: PipelineControl | undefined;
  readonly logger: Logger;
  readonly version: string;
  readonly mode: ServiceMode;
  readonly clock: () => Date;
  readonly metrics: ServiceMetrics;
  /** Copies tags to the tenants' stores. */
  readonly tags: TagMirror;
  /** Creates the servers if `api.tls` is set. */
  readonly tls?: TlsServers | undefined;
  /** Folder of the built console, if it is not that of the package. */
  readonly consoleFolder?: string | undefined;
  /** Compares the days in each store with those that Postgres has recorded as published. */
  readonly drift: StoreDriftCheck;
}

/** Throws `store_unavailable` if the tenant's store cannot be opened. */
export async function openTenantStore(
  context: Pick<HttpContext, "stores">,
  tenant: TenantConfig,
): Promise<TenantStore> {
  try {
    return await context.stores.tenant(tenant.tenant_name);
  } catch (error) {
    throw storeUnavailable(error);
  }
}

/** Returns the store and the tenant that a request changes, and the interruption that ends the change. */
export const tenantWriter = (
  { stores: { postgres } }: HttpContext,
  { tenant, interruption }: Pick<FastifyRequest, "tenant" | "interruption">,
) => ({ postgres, tenantName: tenant.tenant_name, stop: interruption });

/** Returns the tenant's store and the request's signal. Throws `store_unavailable`. */
export async function tenantRead(context: HttpContext, request: FastifyRequest) {
  const { client } = await openTenantStore(context, request.tenant);
  return { client, signal: request.stopSignal };
}

/** What routes work with: handed in, so that tests bring their own. */
import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Config, TenantConfig } from "../config/config.js";
import type { PipelineControl } from "../runner/control.js";
import type { Stores, TenantStore } from "../store/stores.js";
import type { TagMirror } from "../tags/tag-mirror.js";
import type { ServiceMetrics } from "./metrics.js";
import { storeUnavailable } from "./problem.js";
import type { Mode } from "./schemas/readiness.js";
import type { TlsServers } from "./server/tls-servers.js";
import type { StoreDriftCheck } from "./store-drift.js";

export interface HttpContext {
  readonly config: Pick<Config, "api" | "tenants">;
  readonly stores: Stores;
  /** Undefined where no pipeline runs in this process. */
  readonly control: PipelineControl | undefined;
  readonly logger: Logger;
  readonly version: string;
  readonly mode: Mode;
  /** Now. */
  readonly clock: () => Date;
  readonly metrics: ServiceMetrics;
  /** Brings tags to the tenants' stores. */
  readonly tags: TagMirror;
  /** Makes the servers, where `api.tls` is given. */
  readonly tls?: TlsServers | undefined;
  /** Of the built console, where it is not the package's own. */
  readonly consoleFolder?: string | undefined;
  /** Whether stores hold what Postgres says is published. */
  readonly facts: StoreDriftCheck;
}

/** The tenant's store. Throws `store_unavailable`; other tenants are not concerned. */
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

/** What most reads need of a request. */
export async function tenantRead(context: HttpContext, request: FastifyRequest) {
  const { client } = await openTenantStore(context, request.tenant);
  return { client, signal: request.stopSignal };
}
